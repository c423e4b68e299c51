# Finds libtorch and makes the target `torch` fit to be used beside the distribution's libraries.
if(TANDEM_TORCH)
  find_package(PypiTorch REQUIRED)
else()
  if(TANDEM_WITH_CUDA)
    message(FATAL_ERROR "TANDEM_WITH_CUDA needs a libtorch that is built with CUDA, which the "
                        "distribution's is not: fetch PyPI's with tools/fetch/fetch_torch.sh --cuda FOLDER "
                        "and give -DTANDEM_TORCH=FOLDER")
  endif()
  find_package(Torch REQUIRED)
endif()
if(TANDEM_WITH_CUDA)
  target_compile_definitions(torch INTERFACE TANDEM_WITH_CUDA=1)
endif()
# Without this, a libtorch header that needs one operation includes all of its thousand.
target_compile_definitions(torch INTERFACE AT_PER_OPERATOR_HEADERS)

# Links to the distribution's headers, where libtorch has others.
set(hiding "${PROJECT_BINARY_DIR}/distribution_headers")
file(REMOVE_RECURSE "${hiding}")
include(TandemHideHeaders)
find_package(fmt REQUIRED)
find_package(dnnl REQUIRED CONFIG)
tandem_hide_header("${hiding}" fmt/format.h fmt::fmt fmt)
tandem_hide_header("${hiding}" dnnl.hpp DNNL::dnnl "dnnl*" oneapi)
if(EXISTS "${hiding}")
  include_directories(BEFORE SYSTEM "${hiding}")
endif()
