# The install component `python`: what a wheel holds besides the Python files of python/, which pyproject.toml
# names. The program lies in the package too, where python/tandem_program starts it.
set(wheel_folder tandem_retrieval)
install(TARGETS tandem_python LIBRARY DESTINATION ${wheel_folder} COMPONENT python)
install(TARGETS tandem_cli RUNTIME DESTINATION ${wheel_folder}/bin COMPONENT python)
install(FILES "${PROJECT_BINARY_DIR}/python/tandem_retrieval/_tandem.pyi" DESTINATION ${wheel_folder}
        COMPONENT python)

# Both load BLAS and LAPACK by name when an approximate index is first used (src/index/blas.h), and find
# them by their run path. What these two need, auditwheel adds.
if(TANDEM_BUNDLE_BLAS)
  set_target_properties(tandem_python PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
  set_target_properties(tandem_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  foreach(library libblas.so.3 liblapack.so.3)
    find_file(TANDEM_WHEEL_${library} ${library} REQUIRED
              PATHS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp" NO_DEFAULT_PATH)
    install(FILES "${TANDEM_WHEEL_${library}}" DESTINATION ${wheel_folder}/lib COMPONENT python)
  endforeach()
endif()
