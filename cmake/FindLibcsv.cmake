# Finds libcsv as Libcsv::Libcsv, the static library where there is one. Debian's package has no CMake
# files.
find_path(Libcsv_INCLUDE_DIR csv.h)
find_library(Libcsv_LIBRARY NAMES libcsv.a csv)
mark_as_advanced(Libcsv_INCLUDE_DIR Libcsv_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Libcsv REQUIRED_VARS Libcsv_LIBRARY Libcsv_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: apt-get install libcsv-dev")

if(Libcsv_FOUND AND NOT TARGET Libcsv::Libcsv)
  add_library(Libcsv::Libcsv UNKNOWN IMPORTED)
  set_target_properties(
    Libcsv::Libcsv PROPERTIES IMPORTED_LOCATION "${Libcsv_LIBRARY}"
                              INTERFACE_INCLUDE_DIRECTORIES "${Libcsv_INCLUDE_DIR}")
endif()
