# posbench_add_plugin(mine mine.cpp [more.cpp...]) builds libmine.so, a plug-in for `posbench --plugin`: the sources of encodings
# and tasks, compiled once as float, which trains, and once as double, which `posbench check` differentiates. The program that
# loads them provides the functions of posbench.
function(posbench_add_plugin name)
  if(NOT ARGN)
    message(FATAL_ERROR "posbench_add_plugin(${name}): expected one source or more behind the name")
  endif()
  foreach(half IN ITEMS float double)
    add_library(${name}_${half} OBJECT ${ARGN})
    target_link_libraries(${name}_${half} PRIVATE posbench::plugin)
    set_target_properties(${name}_${half} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  endforeach()
  target_compile_definitions(${name}_double PRIVATE POSBENCH_REAL=float64 POSBENCH_CHECKED_INDICES)
  # As the program's own: optimized in every build type, so that it finds the same numbers.
  target_compile_options(${name}_float PRIVATE -O3 -ffp-contract=off)
  target_compile_options(${name}_double PRIVATE -O1 -UNDEBUG)

  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}_abi.cpp
       "#include \"harness/exchange/plugin_abi.h\"\n"
       "extern \"C\" {\n"
       "[[gnu::visibility(\"default\")]] extern const char posbench_plugin_abi[];\n"
       "[[gnu::used]] const char posbench_plugin_abi[] = POSBENCH_ABI_BEGIN POSBENCH_ABI \"}\";\n"
       "}\n")
  add_library(${name} MODULE $<TARGET_OBJECTS:${name}_float> $<TARGET_OBJECTS:${name}_double>
                             ${CMAKE_CURRENT_BINARY_DIR}/${name}_abi.cpp)
  target_link_libraries(${name} PRIVATE posbench::plugin)
endfunction()
