# Run by ctest: configures SOURCE with ARGUMENTS, which must end with an error that has the words
# EXPECTED.
file(REMOVE_RECURSE "${SCRATCH}")
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
          -DTANDEM_WITH_TESTS=OFF ${ARGUMENTS}
  RESULT_VARIABLE status
  OUTPUT_QUIET
  ERROR_VARIABLE errors)
if(status EQUAL 0)
  message(FATAL_ERROR "was not refused: ${ARGUMENTS}")
endif()
string(REGEX REPLACE "[ \n]+" " " errors "${errors}")
if(NOT errors MATCHES "${EXPECTED}")
  message(FATAL_ERROR "expected '${EXPECTED}', but the error is:\n${errors}")
endif()
