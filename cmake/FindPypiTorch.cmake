# Finds PyPI's torch in the folder TANDEM_TORCH, which tools/fetch/fetch_torch.sh or pip has made, and makes
# the target `torch` with its headers and libraries: c10 and torch_cpu, with TANDEM_WITH_CUDA also
# c10_cuda, torch_cuda and NCCL. NVIDIA's headers and libraries are those that the package itself asks
# for, so no CUDA toolkit is needed, as it would be for the CMake package of PyPI's torch: that one
# looks for a toolkit and for nvcc, whatever is linked. Kernels here are compiled where they run, by the
# compiler among these libraries (src/libtorch/kernels/nvrtc.h).
#
# Sets Torch_VERSION, TORCH_INCLUDE_DIRS and PypiTorch_FOUND.
include(FindPackageHandleStandardArgs)

set(PypiTorch_FOLDER "${TANDEM_TORCH}/torch")
set(TORCH_INCLUDE_DIRS "${PypiTorch_FOLDER}/include"
                       "${PypiTorch_FOLDER}/include/torch/csrc/api/include")
set(PypiTorch_REQUIRED_FILES
    "${PypiTorch_FOLDER}/version.py" "${PypiTorch_FOLDER}/include/ATen/core/Tensor.h"
    "${PypiTorch_FOLDER}/lib/libc10.so" "${PypiTorch_FOLDER}/lib/libtorch_cpu.so")
set(PypiTorch_HINT "tools/fetch/fetch_torch.sh ${TANDEM_TORCH} fetches it")
set(PypiTorch_CUDA_INCLUDE_DIRS "")
if(TANDEM_WITH_CUDA)
  # From CUDA 13 on NVIDIA's packages share one folder; cuDNN, NCCL and others have their own.
  file(GLOB PypiTorch_CUDA_INCLUDE_DIRS "${TANDEM_TORCH}/nvidia/*/include")
  find_path(PypiTorch_NCCL_FOLDER nccl.h PATHS "${TANDEM_TORCH}/nvidia/nccl/include" NO_CACHE
                                               NO_DEFAULT_PATH)
  file(GLOB PypiTorch_RUNTIME_LIBRARY "${TANDEM_TORCH}/nvidia/*/lib/libcudart.so.*")
  find_path(PypiTorch_RUNTIME_FOLDER cuda_runtime_api.h PATHS ${PypiTorch_CUDA_INCLUDE_DIRS} NO_CACHE
                                                             NO_DEFAULT_PATH)
  # A part of the compiler's package, which an environment may lack: then a toolkit's will do.
  find_path(
    PypiTorch_CRT_FOLDER crt/host_config.h
    PATHS ${PypiTorch_CUDA_INCLUDE_DIRS} "$ENV{CUDA_HOME}/include" /usr/local/cuda/include NO_CACHE
    NO_DEFAULT_PATH)
  if(NOT PypiTorch_CRT_FOLDER)
    set(PypiTorch_CRT_FOLDER "${TANDEM_TORCH}/nvidia/cu13/include")
  endif()
  list(APPEND PypiTorch_CUDA_INCLUDE_DIRS "${PypiTorch_CRT_FOLDER}") # after the package's own
  list(REMOVE_DUPLICATES PypiTorch_CUDA_INCLUDE_DIRS)
  if(NOT PypiTorch_RUNTIME_LIBRARY)
    set(PypiTorch_RUNTIME_LIBRARY "${TANDEM_TORCH}/nvidia/cu13/lib/libcudart.so.13")
  endif()
  if(NOT PypiTorch_NCCL_FOLDER)
    set(PypiTorch_NCCL_FOLDER "${TANDEM_TORCH}/nvidia/nccl/include")
  endif()
  if(NOT PypiTorch_RUNTIME_FOLDER)
    set(PypiTorch_RUNTIME_FOLDER "${TANDEM_TORCH}/nvidia/cu13/include")
  endif()
  list(APPEND PypiTorch_REQUIRED_FILES "${PypiTorch_FOLDER}/lib/libc10_cuda.so"
       "${PypiTorch_FOLDER}/lib/libtorch_cuda.so" "${PypiTorch_NCCL_FOLDER}/nccl.h"
       "${PypiTorch_RUNTIME_LIBRARY}" "${PypiTorch_RUNTIME_FOLDER}/cuda_runtime_api.h"
       "${PypiTorch_RUNTIME_FOLDER}/cuda.h"
       "${PypiTorch_CRT_FOLDER}/crt/host_config.h")
  set(PypiTorch_HINT "tools/fetch/fetch_torch.sh --cuda ${TANDEM_TORCH} fetches it")
endif()

set(PypiTorch_MISSING "")
foreach(file IN LISTS PypiTorch_REQUIRED_FILES)
  if(NOT EXISTS "${file}")
    string(APPEND PypiTorch_MISSING "\n  ${file}")
  endif()
endforeach()
if(PypiTorch_MISSING)
  set(PypiTorch_COMPLETE FALSE)
  set(PypiTorch_NOT_FOUND_MESSAGE
      "TANDEM_TORCH=${TANDEM_TORCH} has no complete torch (${PypiTorch_HINT}). Missing:${PypiTorch_MISSING}")
else()
  set(PypiTorch_COMPLETE TRUE)
  file(STRINGS "${PypiTorch_FOLDER}/version.py" version REGEX "^__version__ = ")
  string(REGEX REPLACE "^__version__ = '([0-9.]+).*" "\\1" Torch_VERSION "${version}")
endif()
find_package_handle_standard_args(
  PypiTorch
  REQUIRED_VARS PypiTorch_COMPLETE
  VERSION_VAR Torch_VERSION
  REASON_FAILURE_MESSAGE "${PypiTorch_NOT_FOUND_MESSAGE}")

if(PypiTorch_FOUND AND NOT TARGET torch)
  add_library(torch INTERFACE IMPORTED)
  target_include_directories(torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_compile_features(torch INTERFACE cxx_std_20)
  target_compile_definitions(torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
  # By options that CMake does not look into: it would warn of libgomp, which the folder has as well.
  # Whichever is loaded first, the program's before the plug-in's, is the only one in a process.
  target_link_options(torch INTERFACE "-L${PypiTorch_FOLDER}/lib"
                      "LINKER:-rpath,${PypiTorch_FOLDER}/lib")
  target_link_libraries(torch INTERFACE -ltorch_cpu -lc10)
  if(TANDEM_WITH_CUDA)
    target_compile_definitions(torch INTERFACE USE_C10D_NCCL)
    target_include_directories(torch SYSTEM INTERFACE ${PypiTorch_CUDA_INCLUDE_DIRS})
    # Operations register themselves when torch_cuda is loaded; nothing refers to them by name.
    target_link_libraries(torch INTERFACE "-Wl,--no-as-needed -ltorch_cuda -lc10_cuda -Wl,--as-needed")
    # Functions in libtorch's headers call it. The package has it without a name that -lcudart finds.
    cmake_path(GET PypiTorch_RUNTIME_LIBRARY PARENT_PATH PypiTorch_RUNTIME_LIB_FOLDER)
    cmake_path(GET PypiTorch_RUNTIME_LIBRARY FILENAME PypiTorch_RUNTIME_NAME)
    target_link_options(torch INTERFACE "-L${PypiTorch_RUNTIME_LIB_FOLDER}"
                        "LINKER:-rpath,${PypiTorch_RUNTIME_LIB_FOLDER}")
    target_link_libraries(torch INTERFACE "-l:${PypiTorch_RUNTIME_NAME}")
  endif()
endif()
