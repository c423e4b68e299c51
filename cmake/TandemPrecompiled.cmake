# Precompiled headers: most of our files are short compared with the library headers that they
# include. A precompiled header contains headers of libraries only, and every file compiles without
# it (TANDEM_PRECOMPILED_HEADERS=OFF, as in the preset `dev`).
#
# g++ uses a precompiled header only for files with the same flags, so there is one for each kind of
# target: libraries (-fPIC) and tests (programs, -fPIE), each with and without libtorch. Rooms that compute
# little have one of their own too: g++ takes one of another level of optimisation, but optimises what is
# in it as the header was, and those rooms then take a sixth longer. The lists are short because loading a
# precompiled header takes time too: with a large one it costs more than it saves.
set(TANDEM_HEADERS <chrono> <filesystem> <functional> <string> <unordered_map> <vector> <fmt/format.h>)
set(TANDEM_TEST_HEADERS <gmock/gmock.h> <gtest/gtest.h>)
set(TANDEM_TORCH_HEADERS <ATen/TensorOperators.h> <ATen/core/Tensor.h>)

# tandem_precompiled_header(KIND HEADERS <a.h> ... DEPENDS libraries [OPTIONS flags] [PROGRAM])
# makes the precompiled header of a kind; tandem_use_precompiled(TARGET KIND) lets a target use it.
function(tandem_precompiled_header kind)
  cmake_parse_arguments(ARG "PROGRAM" "" "HEADERS;DEPENDS;OPTIONS" ${ARGN})
  set(source "${PROJECT_BINARY_DIR}/precompiled_${kind}.cc")
  if(ARG_PROGRAM)
    file(CONFIGURE OUTPUT "${source}" CONTENT "int main() {}\n")
    add_executable(tandem_precompiled_${kind} "${source}")
  else()
    file(CONFIGURE OUTPUT "${source}" CONTENT "\n")
    add_library(tandem_precompiled_${kind} OBJECT "${source}")
  endif()
  tandem_common_options(tandem_precompiled_${kind})
  target_compile_options(tandem_precompiled_${kind} PRIVATE ${ARG_OPTIONS})
  target_link_libraries(tandem_precompiled_${kind} PRIVATE ${ARG_DEPENDS})
  target_precompile_headers(tandem_precompiled_${kind} PRIVATE ${ARG_HEADERS})
endfunction()

# Does nothing where precompiled headers are off.
function(tandem_use_precompiled target kind)
  if(TARGET tandem_precompiled_${kind})
    target_precompile_headers(${target} REUSE_FROM tandem_precompiled_${kind})
  endif()
endfunction()

if(TANDEM_PRECOMPILED_HEADERS)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # ccache needs the first flag to see the header. The second turns off one more false alarm of
    # g++ 12 on strings: it does not treat what comes from a precompiled header as a system header.
    list(APPEND TANDEM_COMPILE_OPTIONS -fpch-preprocess -Wno-stringop-overread)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # ccache takes the header's bytes for what it depends on, and clang writes times into it.
    list(APPEND TANDEM_COMPILE_OPTIONS "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  find_package(fmt REQUIRED)
  tandem_precompiled_header(library HEADERS ${TANDEM_HEADERS} DEPENDS fmt::fmt)
  tandem_precompiled_header(
    light_library HEADERS ${TANDEM_HEADERS} DEPENDS fmt::fmt OPTIONS ${TANDEM_LIGHT_ROOM_OPTIONS})
  if(TANDEM_WITH_TORCH)
    tandem_precompiled_header(
      torch_library HEADERS ${TANDEM_HEADERS} ${TANDEM_TORCH_HEADERS} DEPENDS fmt::fmt torch)
  endif()
  if(TANDEM_WITH_TESTS)
    tandem_precompiled_header(
      test PROGRAM HEADERS ${TANDEM_HEADERS} ${TANDEM_TEST_HEADERS}
      OPTIONS ${TANDEM_LIGHT_COMPILE_OPTIONS}
      DEPENDS fmt::fmt GTest::gmock GTest::gtest)
  endif()
  if(TANDEM_WITH_TESTS AND TANDEM_WITH_TORCH)
    tandem_precompiled_header(
      torch_test PROGRAM HEADERS ${TANDEM_HEADERS} ${TANDEM_TEST_HEADERS} ${TANDEM_TORCH_HEADERS}
      OPTIONS ${TANDEM_LIGHT_COMPILE_OPTIONS}
      DEPENDS fmt::fmt GTest::gmock GTest::gtest torch)
  endif()
endif()
