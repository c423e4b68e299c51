# The Debian packages (`./dev package`, cpack -G DEB). `tandem` is the install component `runtime`: the
# program, its manual pages and completions, the systemd unit and the documentation. `tandem-torch` is the
# component `torch`: the plug-in, where it is built with the distribution's libtorch. Libraries, headers and
# the CMake package are for developers and in neither.
set(documentation "${PROJECT_BINARY_DIR}/documentation")
add_custom_command(
  OUTPUT "${documentation}/complete"
  COMMAND ${CMAKE_COMMAND} -DTANDEM=$<TARGET_FILE:tandem_cli> -DOUTPUT=${documentation}
          -P "${PROJECT_SOURCE_DIR}/cmake/WriteDocumentation.cmake"
  DEPENDS tandem_cli "${PROJECT_SOURCE_DIR}/cmake/WriteDocumentation.cmake"
  COMMENT "Writing manual pages and completions"
  VERBATIM)
add_custom_target(tandem_documentation DEPENDS "${documentation}/complete")
if(NOT TANDEM_SANITIZE) # such a build is not installed
  set_target_properties(tandem_documentation PROPERTIES EXCLUDE_FROM_ALL FALSE)
endif()

set(doc_folder "${CMAKE_INSTALL_DATADIR}/doc/tandem")
install(DIRECTORY "${documentation}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT runtime)
install(FILES "${documentation}/completion/bash" RENAME tandem COMPONENT runtime
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${documentation}/completion/zsh" RENAME _tandem COMPONENT runtime
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
install(FILES "${documentation}/completion/fish" RENAME tandem.fish COMPONENT runtime
        DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
install(FILES "packaging/tandem@.service" DESTINATION lib/systemd/system COMPONENT runtime)
install(FILES packaging/copyright DESTINATION "${doc_folder}" COMPONENT runtime)
install(DIRECTORY docs/ DESTINATION "${doc_folder}" COMPONENT runtime)
install(DIRECTORY recipes DESTINATION "${doc_folder}/examples" COMPONENT runtime)

# Packages of a later release replace those of an earlier one: 0.1.0+debian12 comes before +debian13.
cmake_host_system_information(RESULT suite QUERY DISTRIB_INFO)
set(suite "${suite_ID}${suite_VERSION_ID}")
if(NOT suite)
  set(suite unknown)
endif()

# The changelog that Debian's tools want; what changed is in CHANGELOG.md.
file(
  CONFIGURE
  OUTPUT "${PROJECT_BINARY_DIR}/debian-changelog"
  CONTENT
    "tandem (@PROJECT_VERSION@+@suite@) unstable; urgency=medium

  * Version @PROJECT_VERSION@.

 -- Tandem's maintainers <maintainers@tandem.invalid>  Thu, 01 Jan 2026 00:00:00 +0000
"
  @ONLY)
foreach(changelog "${PROJECT_BINARY_DIR}/debian-changelog" CHANGELOG.md)
  get_filename_component(name "${changelog}" NAME)
  set(name_in_package changelog.gz)
  if(name STREQUAL "CHANGELOG.md")
    set(name_in_package CHANGELOG.md.gz)
  endif()
  get_filename_component(changelog "${changelog}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  add_custom_command(
    OUTPUT "${documentation}.${name_in_package}"
    COMMAND gzip -9nc "${changelog}" > "${documentation}.${name_in_package}"
    DEPENDS "${changelog}"
    VERBATIM)
  target_sources(tandem_documentation PRIVATE "${documentation}.${name_in_package}")
  install(FILES "${documentation}.${name_in_package}" RENAME "${name_in_package}"
          DESTINATION "${doc_folder}" COMPONENT runtime)
endforeach()

set(components runtime)
if(TANDEM_WITH_TORCH AND NOT TANDEM_TORCH)
  list(APPEND components torch)
  set(torch_doc_folder "${CMAKE_INSTALL_DATADIR}/doc/tandem-torch")
  install(FILES packaging/copyright DESTINATION "${torch_doc_folder}" COMPONENT torch)
  install(FILES "${documentation}.changelog.gz" RENAME changelog.gz DESTINATION "${torch_doc_folder}"
          COMPONENT torch)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};tandem;ALL;/")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_NAME tandem)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}+${suite}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGE_CONTACT "Tandem's maintainers <maintainers@tandem.invalid>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME tandem)
# Without OpenBLAS FAISS and libtorch take the slow reference BLAS.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS libopenblas0-openmp)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS tandem-torch)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
    "embedding models for search: training, indexes and a server
Tandem trains, evaluates, indexes for and serves dual-encoder retrievers, the
embedding models behind semantic search. It reads and writes model folders of
Hugging Face and sentence-transformers, measures as trec_eval does, and runs
on CPUs without Python. 'tandem serve' answers over HTTP with calibrated
probabilities, and as OpenAI's embedding clients ask.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/postinst"
                                               "${PROJECT_SOURCE_DIR}/packaging/prerm"
                                               "${PROJECT_SOURCE_DIR}/packaging/postrm")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_TORCH_PACKAGE_NAME tandem-torch)
# The plug-in and the program are of one build.
set(CPACK_DEBIAN_TORCH_PACKAGE_DEPENDS "tandem (= ${CPACK_PACKAGE_VERSION}), libopenblas0-openmp")
set(CPACK_DEBIAN_TORCH_DESCRIPTION
    "back end of tandem for training with several processes
The plug-in with which tandem trains, encodes and mines with several processes
that work together, of one machine or of many. It computes by libtorch.")
include(CPack)
