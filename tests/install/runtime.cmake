# Run by ctest: installs what the Debian packages hold from BUILD into SCRATCH and compares the lists of
# their files with what they must have and must not have. WITH_TORCH: whether there is a plug-in, which
# then lies in PLUG_IN. READELF: of the compiler's binutils.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${SCRATCH}")
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component runtime --prefix ${SCRATCH}
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(GLOB_RECURSE files RELATIVE "${SCRATCH}" "${SCRATCH}/*")

# expect_back_end(TEXT): what the installed program says of its back end begins so.
function(expect_back_end text)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=TANDEM_BACK_END ${SCRATCH}/bin/tandem --version
                  OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
  string(FIND "${version}" "back end for GPUs and several processes: ${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "expected the back end ${text}, but tandem --version says:\n${version}")
  endif()
endfunction()
expect_back_end("none")

set(expected
    bin/tandem
    lib/systemd/system/tandem@.service
    share/bash-completion/completions/tandem
    share/doc/tandem/copyright
    share/doc/tandem/changelog.gz
    share/doc/tandem/serving.md
    share/fish/vendor_completions.d/tandem.fish
    share/man/man1/tandem.1.gz
    share/zsh/vendor-completions/_tandem)
execute_process(COMMAND ${SCRATCH}/bin/tandem list commands --format tsv OUTPUT_VARIABLE commands
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[a-z_-]+" names "${commands}")
list(LENGTH names count)
if(count LESS 20)
  message(FATAL_ERROR "tandem list commands printed ${count} commands:\n${commands}")
endif()
foreach(name IN LISTS names)
  string(STRIP "${name}" name)
  list(APPEND expected share/man/man1/tandem-${name}.1.gz)
endforeach()
foreach(file IN LISTS expected)
  if(NOT file IN_LIST files)
    message(FATAL_ERROR "the package has no ${file}")
  endif()
endforeach()

# expect_shared_libstdcxx(FILE): it has no std::call_once of its own beside that of the libraries it loads.
function(expect_shared_libstdcxx file)
  execute_process(COMMAND ${READELF} --dynamic --dyn-syms --wide ${file} OUTPUT_VARIABLE contents
                  COMMAND_ERROR_IS_FATAL ANY)
  if(NOT contents MATCHES "NEEDED[^\n]*\\[lib(std)?c\\+\\+\\.so")
    message(FATAL_ERROR "${file} is not linked with the shared libstdc++:\n${contents}")
  endif()
  if(contents MATCHES "\n[^\n]* [0-9]+ __once_proxy\n")
    message(FATAL_ERROR "${file} has a libstdc++ of its own: ${CMAKE_MATCH_0}")
  endif()
endfunction()
expect_shared_libstdcxx(${SCRATCH}/bin/tandem)

# What is for developers.
foreach(file IN LISTS files)
  if(file MATCHES "\\.(a|h|cmake)$" OR file MATCHES "^include/")
    message(FATAL_ERROR "the package has ${file}")
  endif()
endforeach()

# The package tandem-torch, which adds the plug-in where the program looks for it.
if(WITH_TORCH)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component torch --prefix ${SCRATCH}
                  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
  expect_back_end("${SCRATCH}/${PLUG_IN}")
  expect_shared_libstdcxx(${SCRATCH}/${PLUG_IN})
endif()
