# Finds PCRE2 for text of 8-bit units as Pcre2::Pcre2, the static library where there is one. Debian's
# package has no CMake files.
find_path(Pcre2_INCLUDE_DIR pcre2.h)
find_library(Pcre2_LIBRARY NAMES libpcre2-8.a pcre2-8)
mark_as_advanced(Pcre2_INCLUDE_DIR Pcre2_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Pcre2 REQUIRED_VARS Pcre2_LIBRARY Pcre2_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: apt-get install libpcre2-dev")

if(Pcre2_FOUND AND NOT TARGET Pcre2::Pcre2)
  add_library(Pcre2::Pcre2 UNKNOWN IMPORTED)
  set_target_properties(
    Pcre2::Pcre2 PROPERTIES IMPORTED_LOCATION "${Pcre2_LIBRARY}"
                            INTERFACE_INCLUDE_DIRECTORIES "${Pcre2_INCLUDE_DIR}")
endif()
