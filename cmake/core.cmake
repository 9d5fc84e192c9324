# posbench::core, the library: tasks, encodings, the model and training, without JSON, files and a command line. Its public
# headers are what install.cmake installs. Tasks and encodings are reached through their registrations alone, so whoever
# links posbench::core links the whole archive.
get_target_property(instruction_options compile_options INTERFACE_COMPILE_OPTIONS)
list(FILTER instruction_options INCLUDE REGEX "^-m")
get_target_property(definitions compile_options INTERFACE_COMPILE_DEFINITIONS)
if(NOT definitions)
  set(definitions "")
endif()

add_library(core_archive STATIC
            results/types/experiment_result.cpp results/types/learning_curve.cpp
            $<TARGET_OBJECTS:base> $<TARGET_OBJECTS:tasks> $<TARGET_OBJECTS:model_float>
            $<TARGET_PROPERTY:model_float,INTERFACE_SOURCES> $<TARGET_OBJECTS:training>)
set_target_properties(core_archive PROPERTIES OUTPUT_NAME posbench INTERFACE_LINK_LIBRARIES "")
target_link_libraries(core_archive INTERFACE Eigen3::Eigen ${fmt_library} Threads::Threads)
target_compile_features(core_archive INTERFACE cxx_std_20)
target_compile_options(core_archive INTERFACE ${instruction_options})
target_compile_definitions(core_archive INTERFACE ${definitions})
target_include_directories(core_archive INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                  $<INSTALL_INTERFACE:include/posbench>)
add_library(posbench::core_archive ALIAS core_archive)  # the name that the installed package has as well
add_library(core INTERFACE)
target_link_libraries(core INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,posbench::core_archive>")
add_library(posbench::core ALIAS core)
