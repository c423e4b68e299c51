# PyPI's torch brings headers of its own fmt and oneDNN, but neither library: what is compiled with
# them does not link. Links to the distribution's headers, in a folder that the compiler looks into
# first, hide them. Used by the build and, for whoever includes Tandem's headers, by its CMake package.

# tandem_hide_header(FOLDER HEADER TARGET NAMES...): where libtorch has HEADER, links in FOLDER the
# NAMES of the folder in which the library TARGET has it.
function(tandem_hide_header hiding header target)
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
  unset(folder)
  find_path(folder "${header}" PATHS ${folders} /usr/include REQUIRED NO_CACHE NO_DEFAULT_PATH)
  file(MAKE_DIRECTORY "${hiding}")
  foreach(pattern IN LISTS ARGN)
    file(GLOB names RELATIVE "${folder}" "${folder}/${pattern}")
    foreach(name IN LISTS names)
      file(CREATE_LINK "${folder}/${name}" "${hiding}/${name}" SYMBOLIC)
    endforeach()
  endforeach()
endfunction()
