# Finds the headers of Eigen and fmt of this processor for another processor, which needs only these.
find_path(EIGEN3_HEADERS Eigen/Core HINTS /usr/include/eigen3 /usr/local/include/eigen3 REQUIRED NO_CMAKE_FIND_ROOT_PATH)
find_path(FMT_HEADERS fmt/format.h HINTS /usr/include /usr/local/include REQUIRED NO_CMAKE_FIND_ROOT_PATH)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/headers)
file(CREATE_LINK ${FMT_HEADERS}/fmt ${PROJECT_BINARY_DIR}/headers/fmt SYMBOLIC)  # the folder has no other headers
add_library(Eigen3::Eigen INTERFACE IMPORTED)
target_include_directories(Eigen3::Eigen INTERFACE ${EIGEN3_HEADERS})
add_library(fmt::fmt INTERFACE IMPORTED)
target_include_directories(fmt::fmt INTERFACE ${PROJECT_BINARY_DIR}/headers)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
