# Collects the license notices of libraries that are linked into the program or embedded in its pages, for `posbench
# --licenses`. They are read from the system's copyright files or the downloaded sources. Without a file, the name of the
# license and the address of the library are printed.
set(POSBENCH_NOTICES "")

# notice(NAME VERSION LICENSE HOME FILE...): the first file that exists is the notice.
function(notice name version license home)
  set(text "No copyright file was found when this program was built; the license is at ${home}\n")
  foreach(file IN LISTS ARGN)
    if(EXISTS ${file})
      file(READ ${file} text)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
      break()
    endif()
  endforeach()
  string(STRIP "${name} ${version}" title)
  set(text "\n==== ${title} (${license}) ====\n${home}\n\n${text}")
  set(literals "")
  string(LENGTH "${text}" rest)
  while(rest GREATER 0)  # compilers may refuse longer string literals; a piece ends with a line
    string(SUBSTRING "${text}" 0 8000 piece)
    if(rest GREATER 8000)
      string(FIND "${piece}" "\n" end REVERSE)
      math(EXPR end "${end} + 1")
      string(SUBSTRING "${piece}" 0 ${end} piece)
    endif()
    string(APPEND literals "      R\"notice(${piece})notice\"\n")
    string(LENGTH "${piece}" end)
    string(SUBSTRING "${text}" ${end} -1 text)
    string(LENGTH "${text}" rest)
  endwhile()
  set(POSBENCH_NOTICES "${POSBENCH_NOTICES}${literals}" PARENT_SCOPE)
endfunction()

set(doc /usr/share/doc)
notice(Eigen "${Eigen3_VERSION}" MPL-2.0 https://eigen.tuxfamily.org ${doc}/libeigen3-dev/copyright ${eigen}/COPYING.MPL2)
notice("nlohmann/json" "${nlohmann_json_VERSION}" MIT https://github.com/nlohmann/json ${doc}/nlohmann-json3-dev/copyright
       ${nlohmann_json}/LICENSE.MIT)
notice(CLI11 "${CLI11_VERSION}" BSD-3-Clause https://github.com/CLIUtils/CLI11 ${doc}/libcli11-dev/copyright ${cli11}/LICENSE)
notice("{fmt}" "${fmt_VERSION}" MIT https://fmt.dev ${doc}/libfmt-dev/copyright ${fmt}/LICENSE.rst)
notice(zlib "${ZLIB_VERSION_STRING}" Zlib https://zlib.net ${doc}/zlib1g-dev/copyright ${zlib}/LICENSE)
# Debian's copyright file of Boost has two megabytes; all of the headers that are used here are under this one license.
notice("Boost (headers)" "${Boost_VERSION}" BSL-1.0 https://www.boost.org ${CMAKE_CURRENT_LIST_DIR}/BSL-1.0.txt)
notice("Vega and D3, in report.html" "" "BSD-3-Clause, ISC" https://vega.github.io ${vega_copyright})
if(POSBENCH_RUNTIME_LICENSE)
  notice("LLVM's runtime libraries" "" "Apache-2.0 with LLVM exceptions" https://libcxx.llvm.org ${POSBENCH_RUNTIME_LICENSE})
else()
  notice("GCC's runtime libraries, in packages" "" "GPL-3.0 with the GCC Runtime Library Exception 3.1"
         https://gcc.gnu.org/onlinedocs/libstdc++/manual/license.html ${doc}/libstdc++6/copyright)
endif()
configure_file(${PROJECT_SOURCE_DIR}/harness/console/licenses.cpp.in
               ${PROJECT_BINARY_DIR}/generated/harness/console/licenses.cpp @ONLY)
