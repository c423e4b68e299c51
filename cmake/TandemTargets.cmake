# One function per kind of target, so that flags, include paths and install rules stand in one place.

set(TANDEM_COMPILE_OPTIONS -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND TANDEM_COMPILE_OPTIONS -Wno-restrict -Wno-maybe-uninitialized) # false alarms of g++ 12 on strings
endif()
if(TANDEM_TORCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND TANDEM_COMPILE_OPTIONS -Wno-array-bounds) # the same on lists of newer libtorch's tensors
endif()
if(TANDEM_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # It takes grouped files for headers; and the more it sees at once, the more false alarms it gives on
  # strings. Builds without groups keep these warnings.
  list(APPEND TANDEM_COMPILE_OPTIONS -Wno-subobject-linkage -Wno-shadow -Wno-array-bounds
       -Wno-stringop-overflow)
elseif(TANDEM_UNITY_BUILD)
  list(APPEND TANDEM_COMPILE_OPTIONS -Wno-shadow) # of names of other files in the group
endif()
if(TANDEM_WARNINGS_AS_ERRORS)
  list(APPEND TANDEM_COMPILE_OPTIONS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The compiler collects its garbage from 512 MiB on, not 128: a tenth of the time for 200 MiB.
  list(APPEND TANDEM_COMPILE_OPTIONS "SHELL:--param ggc-min-heapsize=524288")
endif()
list(APPEND TANDEM_COMPILE_OPTIONS ${TANDEM_PROCESSOR_OPTIONS})
set(TANDEM_COMPILE_DEFINITIONS ${TANDEM_PROCESSOR_DEFINITIONS})
set(TANDEM_LINK_OPTIONS "LINKER:--as-needed") # libraries of which nothing is used are not loaded

# Some toolchains link a copy of libstdc++ into each program, and oneDNN brings the shared library. In a
# build against PyPI's torch oneDNN is loaded with RTLD_DEEPBIND and so sets the std::__once_call of the
# shared library, while __once_proxy there reads that of the program, which comes first everywhere else:
# std::call_once inside oneDNN calls null. Programs and plug-ins name the shared library before g++ does.
include(CheckCXXSourceCompiles)
include(CMakePushCheckState)
cmake_push_check_state()
list(APPEND CMAKE_REQUIRED_LIBRARIES "-l:libstdc++.so.6")
check_cxx_source_compiles(
  "#include <string>
#ifndef __GLIBCXX__
#error another standard library
#endif
int main(int count, char** texts) { return std::string(texts[count - 1]).empty(); }"
  TANDEM_HAS_SHARED_LIBSTDCXX)
cmake_pop_check_state()
if(TANDEM_SANITIZE)
  list(APPEND TANDEM_COMPILE_OPTIONS -fsanitize=${TANDEM_SANITIZE} -fno-omit-frame-pointer
       -fno-sanitize-recover=all)
  if(TANDEM_SANITIZE STREQUAL "address,undefined")
    # AddressSanitizer finds what these two look for. They are a quarter of a file's time.
    list(APPEND TANDEM_COMPILE_OPTIONS -fno-sanitize=null,object-size)
  endif()
  list(APPEND TANDEM_LINK_OPTIONS -fsanitize=${TANDEM_SANITIZE})
endif()
if(TANDEM_WITH_FUZZERS)
  list(APPEND TANDEM_COMPILE_OPTIONS -fsanitize=fuzzer-no-link)  # coverage for the fuzz targets
endif()

# Options for tests and benchmarks, and for rooms that compute little: full optimisation would take
# longer than it saves.
set(TANDEM_LIGHT_COMPILE_OPTIONS "")
set(TANDEM_LIGHT_ROOM_OPTIONS "")
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(TANDEM_LIGHT_COMPILE_OPTIONS -Og)
  set(TANDEM_LIGHT_ROOM_OPTIONS -O1)
  # g++ 13 and later set these at -O2 and above, and use a precompiled header only for files where
  # they are the same as for the header.
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-munroll-only-small-loops TANDEM_HAS_UNROLL_ONLY_SMALL_LOOPS)
  if(TANDEM_HAS_UNROLL_ONLY_SMALL_LOOPS)
    list(APPEND TANDEM_LIGHT_COMPILE_OPTIONS -munroll-only-small-loops -mvzeroupper)
    list(APPEND TANDEM_LIGHT_ROOM_OPTIONS -munroll-only-small-loops -mvzeroupper)
  endif()
endif()

# A test that takes longer has failed. An emulated processor computes floats in software.
set(TANDEM_TEST_SECONDS 600)
if(CMAKE_CROSSCOMPILING)
  set(TANDEM_TEST_SECONDS 7200)
endif()

# Options of every target, which call this when they have their sources.
function(tandem_common_options target)
  target_compile_options(${target} PRIVATE ${TANDEM_COMPILE_OPTIONS})
  target_compile_definitions(${target} PRIVATE ${TANDEM_COMPILE_DEFINITIONS})
  target_link_options(${target} PRIVATE ${TANDEM_LINK_OPTIONS})
  get_target_property(type ${target} TYPE)
  if(TANDEM_HAS_SHARED_LIBSTDCXX AND type MATCHES "EXECUTABLE|MODULE")
    target_link_libraries(${target} PRIVATE "-l:libstdc++.so.6")
  endif()
  if(TANDEM_UNITY_BUILD)
    tandem_unity_build(${target})
  endif()
endfunction()

# Compiles the target's files in groups: most are short beside the headers that they include. In groups of
# 30 the program takes 0.88 times as long as in groups of 12. Three kinds are compiled by themselves:
# kernels, which Highway compiles once for each instruction set; files with options of their own; entries
# of a catalogue whose helpers have the same names in every file (ALONE in cmake/TandemCatalogue.cmake).
function(tandem_unity_build target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 30)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE file)
    file(STRINGS "${file}" kernels REGEX "^#include .*foreach_target\\.h" LIMIT_COUNT 1)
    if(kernels)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# Sets RESULT to whether one of these dependencies is libtorch or depends on it.
function(tandem_needs_torch result)
  set(${result} FALSE PARENT_SCOPE)
  foreach(dependency IN LISTS ARGN)
    if(dependency STREQUAL "torch")
      set(${result} TRUE PARENT_SCOPE)
    elseif(dependency MATCHES "^tandem::(.*)")
      get_target_property(needs tandem_${CMAKE_MATCH_1} TANDEM_NEEDS_TORCH)
      if(needs)
        set(${result} TRUE PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

# Fails unless the folder of every source, where it lies inside a room's folder, is this target's only,
# and unless the target is called after the room: ROOM or ROOM_PART.
function(tandem_own_folders name)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${source}" NORMALIZE in_tree)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" NORMALIZE generated)
    if(generated OR NOT in_tree)
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/src")
    string(REGEX REPLACE "/.*" "" room "${folder}")
    if(NOT name MATCHES "^${room}(_|$)")
      message(FATAL_ERROR "the target ${name} has ${source}: call it ${room} or ${room}_PART")
    endif()
    get_property(owner GLOBAL PROPERTY "TANDEM_OWNER_OF_${folder}")
    if(folder STREQUAL room OR owner STREQUAL name)
      continue()
    elseif(owner)
      message(FATAL_ERROR "src/${folder} is a folder of the target ${owner}; ${name} has a source there")
    endif()
    set_property(GLOBAL PROPERTY "TANDEM_OWNER_OF_${folder}" ${name})
  endforeach()
endfunction()

# tandem_room(NAME SOURCES a.cc ... [DEPENDS rooms or libraries that its headers show]
#             [PRIVATE_DEPENDS libraries that only its sources use] [COMPUTES_LITTLE])
# makes the static library tandem_NAME, known as tandem::NAME, and installs it. NAME is a room, or
# ROOM_PART for a part of one that has other dependencies than the rest. A folder inside a room belongs
# to one target. cmake/InstallHeaders.cmake says which headers are installed. COMPUTES_LITTLE: it is
# compiled with TANDEM_LIGHT_ROOM_OPTIONS.
function(tandem_room name)
  cmake_parse_arguments(ARG "COMPUTES_LITTLE" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  tandem_own_folders(${name} ${ARG_SOURCES})
  add_library(tandem_${name} STATIC ${ARG_SOURCES})
  add_library(tandem::${name} ALIAS tandem_${name})
  set_target_properties(tandem_${name} PROPERTIES EXPORT_NAME ${name})
  tandem_common_options(tandem_${name})
  if(ARG_COMPUTES_LITTLE)
    target_compile_options(tandem_${name} PRIVATE ${TANDEM_LIGHT_ROOM_OPTIONS})
  endif()
  target_include_directories(
    tandem_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                          $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tandem>)
  target_compile_features(tandem_${name} PUBLIC cxx_std_20)
  target_link_libraries(tandem_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  tandem_needs_torch(needs_torch ${ARG_DEPENDS} ${ARG_PRIVATE_DEPENDS})
  set_target_properties(tandem_${name} PROPERTIES TANDEM_NEEDS_TORCH ${needs_torch})
  # Users of the package get the rooms that need libtorch with COMPONENTS torch.
  set(export_set tandem)
  if(needs_torch)
    set(export_set tandemTorch)
  endif()
  # The precompiled headers are compiled without OpenMP's flag.
  if(NOT "OpenMP::OpenMP_CXX" IN_LIST ARG_PRIVATE_DEPENDS)
    if(needs_torch)
      tandem_use_precompiled(tandem_${name} torch_library)
    elseif(ARG_COMPUTES_LITTLE)
      tandem_use_precompiled(tandem_${name} light_library)
    else()
      tandem_use_precompiled(tandem_${name} library)
    endif()
  endif()
  install(TARGETS tandem_${name} EXPORT ${export_set} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# tandem_test(NAME SOURCES a_test.cc ... DEPENDS rooms or libraries [LABELS ...] [SHARDS n] [PORTABLE]
# [NO_ENTRIES]) makes one GoogleTest binary; every TEST in it becomes one ctest entry, run from the build tree.
# SHARDS: it makes n entries instead, NAME_0 to NAME_(n-1), each with its share of the tests, for
# tests that are shorter than the start of a process, which with libtorch is a second. Entries run
# beside each other, so their threads wait without taking a processor. In builds with
# a sanitizer every program has 4 shards. NO_ENTRIES: the caller adds its own.
# PORTABLE: where the back end of libtorch is built, the same tests can be run in the operations of a
# GPU, too: tandem_portable_test below.
# The target tests_of_LABEL builds the tests with a label. The label `threads` marks tests of code
# that works on several threads of its own, not OpenMP's; CI runs them under ThreadSanitizer.
# TANDEM_SHARED_DIR (environment) may point at the reference data; its default is ../shared.
function(tandem_test name)
  cmake_parse_arguments(ARG "NO_ENTRIES;PORTABLE" "SHARDS" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  tandem_common_options(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(
    ${name} PRIVATE TANDEM_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                    TANDEM_BINARY="$<TARGET_FILE_DIR:tandem_cli>/tandem")
  target_compile_options(${name} PRIVATE ${TANDEM_LIGHT_COMPILE_OPTIONS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  tandem_needs_torch(needs_torch ${ARG_DEPENDS})
  if(needs_torch)
    tandem_use_precompiled(${name} torch_test)
  else()
    tandem_use_precompiled(${name} test)
  endif()
  # Property tests draw the same cases in every run. Tests keep nothing in the user's cache, and find
  # nothing there that another build has made.
  set(properties TIMEOUT ${TANDEM_TEST_SECONDS} ENVIRONMENT "RC_PARAMS=seed=20240229" ENVIRONMENT_MODIFICATION
                 "TANDEM_CACHE=set:")
  foreach(label IN LISTS ARG_LABELS)
    if(NOT TARGET tests_of_${label})
      add_custom_target(tests_of_${label})
    endif()
    add_dependencies(tests_of_${label} ${name})
  endforeach()
  if(ARG_LABELS)
    list(APPEND properties LABELS "${ARG_LABELS}")
  endif()
  if(TANDEM_SANITIZE AND NOT ARG_SHARDS)
    set(ARG_SHARDS 4) # a sanitizer's start takes longer than most tests
  endif()
  if(ARG_SHARDS AND NOT ARG_NO_ENTRIES)
    math(EXPR last "${ARG_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME ${name}_${shard} COMMAND ${name})
      set_tests_properties(${name}_${shard} PROPERTIES ${properties})
      set_property(TEST ${name}_${shard} APPEND
                   PROPERTY ENVIRONMENT GTEST_TOTAL_SHARDS=${ARG_SHARDS} GTEST_SHARD_INDEX=${shard}
                            OMP_WAIT_POLICY=passive)
    endforeach()
    if(ARG_PORTABLE AND TANDEM_WITH_TORCH)
      foreach(shard RANGE ${last})
        set_property(TEST ${name}_${shard} APPEND PROPERTY LABELS own_forms)
      endforeach()
      tandem_portable_test(${name} ${ARG_SHARDS} "${properties}")
    endif()
  elseif(NOT ARG_NO_ENTRIES)
    if(ARG_PORTABLE AND TANDEM_WITH_TORCH)
      tandem_portable_test(${name} 1 "${properties}")
      list(APPEND properties LABELS own_forms)
    endif()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  endif()
endfunction()

# Makes NAME_portable of the objects of the test NAME, in which the back end is there from the start:
# programs of tests load no plug-in. The target portable_tests builds these programs, and `ctest -C
# portable` has their entries, with TANDEM_FORMS=portable. Entries of NAME get the label `own_forms`:
# with that variable they would look for a back end in vain (`./dev check portable`).
function(tandem_portable_test name shards properties)
  set(portable ${name}_portable)
  add_executable(${portable} EXCLUDE_FROM_ALL
                             ${PROJECT_SOURCE_DIR}/tests/tensor/back_end_environment.cc)
  tandem_common_options(${portable})
  target_sources(${portable} PRIVATE $<TARGET_OBJECTS:${name}>)
  get_target_property(libraries ${name} LINK_LIBRARIES)
  target_link_libraries(${portable} PRIVATE tandem::libtorch ${libraries})
  if(NOT TARGET portable_tests)
    add_custom_target(portable_tests)
  endif()
  add_dependencies(portable_tests ${portable})
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    add_test(
      NAME ${portable}_${shard}
      COMMAND ${portable}
      CONFIGURATIONS portable)
    set_tests_properties(${portable}_${shard} PROPERTIES ${properties})
    set_property(TEST ${portable}_${shard} APPEND
                 PROPERTY ENVIRONMENT GTEST_TOTAL_SHARDS=${shards} GTEST_SHARD_INDEX=${shard}
                          OMP_WAIT_POLICY=passive TANDEM_FORMS=portable)
  endforeach()
endfunction()
