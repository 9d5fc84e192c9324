# Finds the libraries on the system. With POSBENCH_FETCH CMake downloads the missing ones from pinned sources and checks their
# SHA-256. The sources are Debian's copies of the releases; FETCHCONTENT_SOURCE_DIR_NAME
# takes an unpacked one instead, for machines without a network.
include(FetchContent)
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW)  # Boost's own package file, since CMake 3.30
endif()
set(debian https://deb.debian.org/debian/pool/main)

# posbench_find(PACKAGE [arguments of find_package...]) fails without the package, unless POSBENCH_FETCH downloads it.
macro(posbench_find package)
  if(POSBENCH_FETCH)
    find_package(${package} ${ARGN} QUIET)
  else()
    find_package(${package} ${ARGN})
    if(NOT ${package}_FOUND)
      message(FATAL_ERROR "${package} is missing: scripts/install_dependencies.sh installs what Debian or Ubuntu has; "
                          "or configure with -DPOSBENCH_FETCH=ON, which downloads pinned sources")
    endif()
  endif()
endmacro()

# posbench_fetch(NAME URL SHA256 FOLDER): the folder of the unpacked source, or one inside, into FOLDER.
function(posbench_fetch name url sha256 folder)
  message(STATUS "posbench: ${name} from ${url}")
  # No CMakeLists.txt of theirs is run: it would bring its own tests and installation.
  FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${sha256} DOWNLOAD_EXTRACT_TIMESTAMP ON SOURCE_SUBDIR none)
  FetchContent_MakeAvailable(${name})
  set(${folder} ${${name}_SOURCE_DIR} PARENT_SCOPE)
endfunction()

function(posbench_headers target folder)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${folder})
endfunction()

find_package(Threads REQUIRED)
posbench_find(Boost 1.74)
posbench_find(Eigen3 3.4 NO_MODULE)
posbench_find(nlohmann_json 3.10)
posbench_find(CLI11)
posbench_find(fmt)
posbench_find(ZLIB)
if(POSBENCH_TESTS)
  posbench_find(Catch2)
endif()

if(NOT Boost_FOUND)
  posbench_fetch(boost ${debian}/b/boost1.74/boost1.74_1.74.0+ds1.orig.tar.xz
                 192f5df504d282cb81288f88232d8af45b64a9ab531e1c7cf8ae955f16f6bb28 boost)
  # The sources have a folder of headers for each library.
  file(GLOB boost_headers ${boost}/libs/*/include ${boost}/libs/numeric/*/include)
  posbench_headers(Boost::headers "${boost_headers}")
  # This version uses std::unary_function, which C++17 removed; libc++ has it on request.
  target_compile_definitions(Boost::headers INTERFACE _LIBCPP_ENABLE_CXX17_REMOVED_UNARY_BINARY_FUNCTION)
  set(Boost_VERSION 1.74.0)
endif()
if(NOT Eigen3_FOUND)
  posbench_fetch(eigen ${debian}/e/eigen3/eigen3_3.4.0.orig.tar.bz2
                 b4c198460eba6f28d34894e3a5710998818515104d6e74e5cc331ce31e46e626 eigen)
  posbench_headers(Eigen3::Eigen ${eigen})
  set(Eigen3_VERSION 3.4.0)
endif()
if(NOT nlohmann_json_FOUND)
  posbench_fetch(nlohmann_json ${debian}/n/nlohmann-json3/nlohmann-json3_3.11.2.orig.tar.gz
                 d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273 nlohmann_json)
  posbench_headers(nlohmann_json::nlohmann_json ${nlohmann_json}/include)
  set(nlohmann_json_VERSION 3.11.2)
endif()
if(NOT CLI11_FOUND)
  posbench_fetch(cli11 ${debian}/c/cli11/cli11_2.1.2+ds.orig.tar.xz
                 8143d20b688e98ccce8e24562d3b68e5f47c12e896c42c7ca8553dbde5bed55d cli11)
  posbench_headers(CLI11::CLI11 ${cli11}/include)
  set(CLI11_VERSION 2.1.2)
endif()
if(NOT fmt_FOUND)
  posbench_fetch(fmt ${debian}/f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz
                 84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583 fmt)
  posbench_headers(fmt::fmt-header-only ${fmt}/include)
  target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
  add_library(fmt::fmt ALIAS fmt::fmt-header-only)
  set(fmt_VERSION 9.1.0)
endif()
if(POSBENCH_TESTS AND NOT Catch2_FOUND)
  posbench_fetch(catch2 ${debian}/c/catch2/catch2_2.13.10.orig.tar.gz
                 2f4fe284449cf17394350e027ae21958973a61b9161197d416e2dfca16167686 catch2)
  posbench_headers(Catch2::Catch2 ${catch2}/single_include)
endif()

# A program for other machines has fmt and zlib inside.
set(fmt_library fmt::fmt)
if(POSBENCH_STATIC)
  set(fmt_library fmt::fmt-header-only)
  find_library(POSBENCH_STATIC_ZLIB libz.a DOC "zlib as a static library")
endif()
if(POSBENCH_STATIC AND POSBENCH_STATIC_ZLIB AND ZLIB_FOUND)
  add_library(posbench_zlib INTERFACE)
  target_include_directories(posbench_zlib SYSTEM INTERFACE ${ZLIB_INCLUDE_DIRS})
  target_link_libraries(posbench_zlib INTERFACE ${POSBENCH_STATIC_ZLIB})
elseif(POSBENCH_STATIC OR NOT ZLIB_FOUND)
  if(NOT POSBENCH_FETCH)
    message(FATAL_ERROR "POSBENCH_STATIC needs zlib as a static library, and there is no libz.a; configure with "
                        "-DPOSBENCH_FETCH=ON, which downloads its source")
  endif()
  posbench_fetch(zlib ${debian}/z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2
                 71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1 zlib)
  enable_language(C)
  file(GLOB zlib_sources ${zlib}/*.c)
  add_library(posbench_zlib STATIC ${zlib_sources})
  target_compile_definitions(posbench_zlib PRIVATE Z_HAVE_UNISTD_H)
  target_include_directories(posbench_zlib SYSTEM PUBLIC ${zlib})
  set(ZLIB_VERSION_STRING 1.2.13)
else()
  add_library(posbench_zlib INTERFACE)
  target_link_libraries(posbench_zlib INTERFACE ZLIB::ZLIB)
endif()
