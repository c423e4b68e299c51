# Finds libtorch and makes the target `torch` fit to be used beside the distribution's libraries.
if(TANDEM_TORCH)
  find_package(PypiTorch REQUIRED)
else()
  if(TANDEM_WITH_CUDA)
    message(FATAL_ERROR "TANDEM_WITH_CUDA needs a libtorch that is built with CUDA, which the "
                        "distribution's is not: fetch PyPI's with tools/fetch_torch.sh --cuda FOLDER "
                        "and give -DTANDEM_TORCH=FOLDER")
  endif()
  find_package(Torch REQUIRED)
endif()
if(TANDEM_WITH_CUDA)
  target_compile_definitions(torch INTERFACE TANDEM_WITH_CUDA=1)
endif()
# Without this, a libtorch header that needs one operation includes all of its thousand.
target_compile_definitions(torch INTERFACE AT_PER_OPERATOR_HEADERS)

# PyPI's torch brings headers of its own fmt and oneDNN, but neither library: what is compiled with
# them does not link. Links to the distribution's headers, in a folder that the compiler looks into
# first, hide them.
set(hiding "${PROJECT_BINARY_DIR}/distribution_headers")
file(REMOVE_RECURSE "${hiding}")

# tandem_hide_header(HEADER TARGET NAMES...): where libtorch has HEADER, links NAMES of the folder in
# which the library TARGET has it.
function(tandem_hide_header header target)
  set(found FALSE)
  foreach(folder IN LISTS TORCH_INCLUDE_DIRS)
    if(EXISTS "${folder}/${header}" AND NOT folder STREQUAL "/usr/include")
      set(found TRUE)
    endif()
  endforeach()
  if(NOT found)
    return()
  endif()
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  find_path(folder "${header}" PATHS ${folders} /usr/include REQUIRED NO_CACHE NO_DEFAULT_PATH)
  file(MAKE_DIRECTORY "${hiding}")
  foreach(pattern IN LISTS ARGN)
    file(GLOB names RELATIVE "${folder}" "${folder}/${pattern}")
    foreach(name IN LISTS names)
      file(CREATE_LINK "${folder}/${name}" "${hiding}/${name}" SYMBOLIC)
    endforeach()
  endforeach()
endfunction()

find_package(fmt REQUIRED)
find_package(dnnl REQUIRED CONFIG)
tandem_hide_header(fmt/format.h fmt::fmt fmt)
tandem_hide_header(dnnl.hpp DNNL::dnnl "dnnl*" oneapi)
if(EXISTS "${hiding}")
  include_directories(BEFORE SYSTEM "${hiding}")
endif()
