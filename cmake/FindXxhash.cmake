# Finds xxHash as Xxhash::Xxhash, the static library where there is one. Debian's package has no CMake
# files.
find_path(Xxhash_INCLUDE_DIR xxhash.h)
find_library(Xxhash_LIBRARY NAMES libxxhash.a xxhash)
mark_as_advanced(Xxhash_INCLUDE_DIR Xxhash_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Xxhash REQUIRED_VARS Xxhash_LIBRARY Xxhash_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: apt-get install libxxhash-dev")

if(Xxhash_FOUND AND NOT TARGET Xxhash::Xxhash)
  add_library(Xxhash::Xxhash UNKNOWN IMPORTED)
  set_target_properties(
    Xxhash::Xxhash PROPERTIES IMPORTED_LOCATION "${Xxhash_LIBRARY}"
                              INTERFACE_INCLUDE_DIRECTORIES "${Xxhash_INCLUDE_DIR}")
endif()
