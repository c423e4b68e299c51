# The CMake package that an installation carries: find_package(tandem [COMPONENTS torch]). The component
# is the back end, for programs that link it instead of loading the plug-in.
include(CMakePackageConfigHelpers)

set(installed_rooms ${TANDEM_ROOMS})
list(REMOVE_ITEM installed_rooms cli commands python)
install(CODE "set(TANDEM_SOURCE \"${PROJECT_SOURCE_DIR}/src\")
set(TANDEM_ROOMS \"${installed_rooms}\")
set(TANDEM_INCLUDE_FOLDER \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/tandem\")
include(\"${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake\")")

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tandem")
configure_package_config_file(
  cmake/tandemConfig.cmake.in "${PROJECT_BINARY_DIR}/tandemConfig.cmake"
  INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tandemConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tandemConfig.cmake"
              "${PROJECT_BINARY_DIR}/tandemConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindCmarkGfm.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindGumbo.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindLibcsv.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindPcre2.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindPypiTorch.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindXxhash.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/TandemHideHeaders.cmake" DESTINATION "${package_folder}")

install(
  EXPORT tandem
  NAMESPACE tandem::
  FILE tandemTargets.cmake
  DESTINATION "${package_folder}")
if(TANDEM_WITH_TORCH)
  install(
    EXPORT tandemTorch
    NAMESPACE tandem::
    FILE tandemTorchTargets.cmake
    DESTINATION "${package_folder}")
endif()
