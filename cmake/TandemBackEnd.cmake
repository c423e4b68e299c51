# The program and the plug-in that it loads share rooms: there is one copy of each function, registry and
# thread-local variable of these rooms in the process, that of the program. The program is linked with
# all objects of these rooms, also those that it does not need itself, and exports them. The plug-in
# links none of them: its undefined symbols are the program's, and the dynamic linker says so where one
# is missing (src/back_end/load.cc). Two copies would have two registries of what a back end gives, and
# would construct and destroy objects of the same name twice.
set(TANDEM_BACK_END_ROOMS
    base
    tensor_isa
    tensor_core
    tensor
    model
    objective_formulas
    objective
    optim_rules
    optim
    dist
    back_end)

# What both must have the same: the headers of these rooms. A file of its own includes it, so that a
# change of a header compiles a file more and no others.
set(interface_folder "${PROJECT_BINARY_DIR}/interface")
set(interface_rooms ${TANDEM_BACK_END_ROOMS})
list(FILTER interface_rooms EXCLUDE REGEX "_")
list(APPEND interface_rooms back_end)
set(interface_headers "")
foreach(room IN LISTS interface_rooms)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${room}/*.h")
  list(APPEND interface_headers ${found})
endforeach()
add_custom_command(
  OUTPUT "${interface_folder}/back_end/interface.h"
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/src "-DROOMS=${interface_rooms}"
          -DOUTPUT=${interface_folder}/back_end/interface.h -P
          ${PROJECT_SOURCE_DIR}/cmake/WriteInterface.cmake
  DEPENDS ${interface_headers} "${PROJECT_SOURCE_DIR}/cmake/WriteInterface.cmake"
  COMMENT "Hashing the headers that the program and its plug-in share"
  VERBATIM)
add_custom_target(tandem_interface DEPENDS "${interface_folder}/back_end/interface.h")

# tandem_uses_interface(TARGET): for a target with a source that includes back_end/interface.h.
function(tandem_uses_interface target)
  target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/interface")
  add_dependencies(${target} tandem_interface)
endfunction()

# tandem_exports_rooms(PROGRAM): for a program that loads the plug-in, and links these rooms.
function(tandem_exports_rooms program)
  set(archives "")
  foreach(room IN LISTS TANDEM_BACK_END_ROOMS)
    list(APPEND archives $<TARGET_FILE:tandem_${room}>)
    target_link_libraries(${program} PRIVATE tandem::${room})
  endforeach()
  list(JOIN archives "," archives)
  target_link_options(${program} PRIVATE "LINKER:--whole-archive,${archives},--no-whole-archive")
  set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON)
endfunction()

# tandem_plug_in(NAME ROOM SOURCES a.cc ... DEPENDS libraries): makes the plug-in of a room, which may
# depend on the rooms above and on these libraries.
function(tandem_plug_in name room)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  get_target_property(dependencies tandem_${room} INTERFACE_LINK_LIBRARIES)
  foreach(dependency IN LISTS dependencies)
    if(dependency MATCHES "^tandem::(.*)" AND NOT CMAKE_MATCH_1 IN_LIST TANDEM_BACK_END_ROOMS)
      message(FATAL_ERROR "the room ${room} depends on ${dependency}, which the program does not export: "
                          "see cmake/TandemBackEnd.cmake")
    endif()
  endforeach()
  add_library(${name} MODULE ${ARG_SOURCES})
  tandem_common_options(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_options(${name} PRIVATE "LINKER:--whole-archive,$<TARGET_FILE:tandem_${room}>,--no-whole-archive")
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  add_dependencies(${name} tandem_${room})
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:tandem_${room}>)
  set_target_properties(${name} PROPERTIES PREFIX lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()
