# Finds Gumbo, which parses HTML, as Gumbo::Gumbo, the static library where there is one. Debian's
# package has no CMake files.
find_path(Gumbo_INCLUDE_DIR gumbo.h)
find_library(Gumbo_LIBRARY NAMES libgumbo.a gumbo)
mark_as_advanced(Gumbo_INCLUDE_DIR Gumbo_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Gumbo REQUIRED_VARS Gumbo_LIBRARY Gumbo_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: apt-get install libgumbo-dev")

if(Gumbo_FOUND AND NOT TARGET Gumbo::Gumbo)
  add_library(Gumbo::Gumbo UNKNOWN IMPORTED)
  set_target_properties(
    Gumbo::Gumbo PROPERTIES IMPORTED_LOCATION "${Gumbo_LIBRARY}"
                            INTERFACE_INCLUDE_DIRECTORIES "${Gumbo_INCLUDE_DIR}")
endif()
