# posbench::plugin, what plug-ins are compiled against, and the hash of the public headers, which ties them to this program.
file(GLOB public_headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     base/*.h tasks/*.h tasks/parts/*.h model/*.h model/*/*.h encodings/*.h encodings/parts/*.h harness/training/*.h
     harness/exchange/plugin_abi.h harness/check/oracles.h results/types/experiment_result.h results/types/task_baseline.h)
list(JOIN public_headers "," headers)
set(header_hash ${PROJECT_BINARY_DIR}/generated/harness/exchange/header_hash.h)
list(TRANSFORM public_headers PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE header_files)
add_custom_command(OUTPUT ${header_hash}
                   COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D HEADERS=${headers} -D VERSION=${PROJECT_VERSION}
                           -D OUTPUT=${header_hash} -P ${PROJECT_SOURCE_DIR}/cmake/header_hash.cmake
                   DEPENDS ${header_files} ${PROJECT_SOURCE_DIR}/cmake/header_hash.cmake VERBATIM)
add_custom_target(header_hash DEPENDS ${header_hash})

add_library(plugin INTERFACE)
target_link_libraries(plugin INTERFACE Eigen3::Eigen fmt::fmt-header-only)
target_compile_features(plugin INTERFACE cxx_std_20)
target_compile_options(plugin INTERFACE ${instruction_options})
target_compile_definitions(plugin INTERFACE ${definitions})
target_include_directories(plugin INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/posbench>
                                            $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>)
add_library(posbench::plugin ALIAS plugin)
include(cmake/posbench_add_plugin.cmake)
