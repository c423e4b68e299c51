# libtandem-torch.so: what programs load where they need this room.
tandem_plug_in(tandem_torch_plugin libtorch SOURCES plug_in.cc DEPENDS torch fmt::fmt)
set_target_properties(tandem_torch_plugin PROPERTIES OUTPUT_NAME tandem-torch)
tandem_uses_interface(tandem_torch_plugin)
target_compile_definitions(tandem_torch_plugin PRIVATE TANDEM_VERSION="${PROJECT_VERSION}")
install(TARGETS tandem_torch_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tandem COMPONENT torch)
