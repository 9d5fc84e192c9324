# Tests that the counts of the example are those of the same run by `posbench run`.
execute_process(COMMAND ${EXAMPLE} OUTPUT_VARIABLE example COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${FOLDER})
execute_process(
  COMMAND ${PROGRAM} run -t last_x_retrieval -e cope:positions=4 -o ${FOLDER} -q --set model.layers=1 --set model.width=32
          --set training.steps=300 --set training.learning_rate=3e-3 --set evaluation.sequences=256
          --set training.reserve=false
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(READ ${FOLDER}/report.json report)
string(JSON splits LENGTH "${report}" experiments 0 splits)
math(EXPR last "${splits} - 1")
foreach(split RANGE ${last})
  string(JSON name GET "${report}" experiments 0 splits ${split} name)
  string(JSON correct GET "${report}" experiments 0 splits ${split} sequence correct)
  string(JSON total GET "${report}" experiments 0 splits ${split} sequence total)
  if(NOT example MATCHES "\n${name} +${correct} of ${total} sequences right")
    message(SEND_ERROR "the program has ${correct} of ${total} right in ${name}, and the example printed\n${example}")
  endif()
endforeach()
