# Run by ctest: installs BUILD, builds CONSUMER against the installation for COMPONENT (core or
# torch) and runs it. Everything lies under SCRATCH and starts from nothing. ALONE: compiles every
# installed header by itself, and nothing else.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command} ended with ${status}")
  endif()
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${SCRATCH}/build -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCOMPONENT=${COMPONENT}
    -DALONE=${ALONE})
if(ALONE)
  run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target every_header)
  return()
endif()
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/consumer)
run(${SCRATCH}/prefix/bin/tandem --version)
if(COMPONENT STREQUAL "core")
  run(${SCRATCH}/build/packs_tokens)
  run(${SCRATCH}/build/keeps_its_own ${SCRATCH}/own)
  run(${SCRATCH}/prefix/bin/tandem loss ${CONSUMER}/../one_case.json)
endif()
