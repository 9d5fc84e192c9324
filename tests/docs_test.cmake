# The pages under docs/ that the program writes are what it would write now.
foreach(what IN ITEMS tasks encodings)
  execute_process(COMMAND ${PROGRAM} list ${what} --markdown OUTPUT_VARIABLE written COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${SOURCE_DIR}/docs/${what}.md found)
  if(NOT written STREQUAL found)
    message(SEND_ERROR "docs/${what}.md is not current; renew it: posbench list ${what} --markdown > docs/${what}.md")
  endif()
endforeach()

# The version that is cited is the version that is built.
execute_process(COMMAND ${PROGRAM} --version OUTPUT_VARIABLE built COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${SOURCE_DIR}/CITATION.cff cited REGEX "^version: ")
string(REPLACE "version: " "" cited "${cited}")
if(NOT built MATCHES "^posbench ${cited} ")
  message(SEND_ERROR "CITATION.cff cites version ${cited}, and this is ${built}")
endif()
