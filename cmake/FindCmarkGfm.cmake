# Finds cmark-gfm with its extensions, which read Markdown, as CmarkGfm::CmarkGfm, the static libraries
# where there are such. Debian's packages have no CMake files.
find_path(CmarkGfm_INCLUDE_DIR cmark-gfm-core-extensions.h)
find_library(CmarkGfm_LIBRARY NAMES libcmark-gfm.a cmark-gfm)
find_library(CmarkGfm_EXTENSIONS_LIBRARY NAMES libcmark-gfm-extensions.a cmark-gfm-extensions)
mark_as_advanced(CmarkGfm_INCLUDE_DIR CmarkGfm_LIBRARY CmarkGfm_EXTENSIONS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  CmarkGfm REQUIRED_VARS CmarkGfm_EXTENSIONS_LIBRARY CmarkGfm_LIBRARY CmarkGfm_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: apt-get install libcmark-gfm-dev libcmark-gfm-extensions-dev")

if(CmarkGfm_FOUND AND NOT TARGET CmarkGfm::CmarkGfm)
  add_library(CmarkGfm::CmarkGfm UNKNOWN IMPORTED)
  set_target_properties(
    CmarkGfm::CmarkGfm PROPERTIES IMPORTED_LOCATION "${CmarkGfm_EXTENSIONS_LIBRARY}"
                                  INTERFACE_LINK_LIBRARIES "${CmarkGfm_LIBRARY}"
                                  INTERFACE_INCLUDE_DIRECTORIES "${CmarkGfm_INCLUDE_DIR}")
endif()
