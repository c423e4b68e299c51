# Run by cmake -P: manual pages and shells' completions, as TANDEM itself prints them, into the folder
# OUTPUT: man1/*.1.gz, completion/bash, completion/zsh, completion/fish.
cmake_minimum_required(VERSION 3.25) # a script has no policies of the project
function(tandem_output variable)
  execute_process(COMMAND "${TANDEM}" ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " words)
    message(FATAL_ERROR "tandem ${words} ended with ${status}")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

function(write_man_page name)
  tandem_output(page help ${ARGN} --format man)
  file(WRITE "${OUTPUT}/man1/${name}.1" "${page}")
  # -n: the same bytes at any time.
  execute_process(COMMAND gzip -9nf "${OUTPUT}/man1/${name}.1" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${OUTPUT}")
file(MAKE_DIRECTORY "${OUTPUT}/man1" "${OUTPUT}/completion")
write_man_page(tandem)
tandem_output(commands list commands --format tsv)
string(REGEX MATCHALL "(^|\n)[a-z][a-z_-]*\t" names "${commands}")
foreach(name IN LISTS names)
  string(STRIP "${name}" name)
  write_man_page(tandem-${name} ${name})
endforeach()
foreach(shell bash zsh fish)
  tandem_output(script completion ${shell})
  file(WRITE "${OUTPUT}/completion/${shell}" "${script}")
endforeach()
file(TOUCH "${OUTPUT}/complete")
