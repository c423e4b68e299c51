# tandem_catalogue(TARGET FUNCTION TYPE HEADER
#                  ENTRIES folder/name.cc kDescriptor
#                          ...
#                  [ALONE]
#                  [OTHER_HALF TARGET FUNCTION TYPE HEADER FOLDER SUFFIX [OPTIONAL]])
# gives TARGET the sources of a catalogue and the table of their descriptors: FUNCTION, which HEADER
# declares, returns `std::span<const TYPE* const>` in the order given here. FUNCTION and TYPE are
# written with their namespace, in which each file defines its descriptor as
# `extern const TYPE kDescriptor{...}`.
#
# So an entry is one file and one line of the room's CMakeLists.txt. The names that files of one target
# define in unnamed namespaces differ, since they are compiled in groups: they carry the entry's name. ALONE:
# they do not, and files are compiled by themselves.
#
# OTHER_HALF: an entry has a second file, which needs libraries that the first does not, such as
# libtorch, so that it belongs to another target. It is found by the entry's line:
# FOLDER/name.cc, which defines kDescriptorSUFFIX of that TYPE. With OPTIONAL an entry may lack it.
# The other target is made before, or later in a folder above FOLDER, which then calls
# tandem_catalogue_halves(TARGET). Where it is not built, there is no such half.
#
# A file that lies beside entries and belongs to no target is an error: its line was forgotten.
function(tandem_catalogue target function type header)
  cmake_parse_arguments(PARSE_ARGV 4 ARG "ALONE" "" "ENTRIES;OTHER_HALF")
  set(files "")
  set(descriptors "")
  set(entries "${ARG_ENTRIES}")
  while(entries)
    list(POP_FRONT entries file descriptor)
    list(APPEND files ${file})
    list(APPEND descriptors ${descriptor})
  endwhile()
  tandem_catalogue_table(${target} ${function} ${type} ${header} "${files}" "${descriptors}")
  set_source_files_properties(${files} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ${ARG_ALONE})
  if(ARG_OTHER_HALF)
    list(POP_FRONT ARG_OTHER_HALF target function type header folder suffix)
    cmake_path(ABSOLUTE_PATH folder NORMALIZE)
    tandem_other_half("${files}" "${descriptors}" "${folder}" "${suffix}" "${ARG_OTHER_HALF}")
    if(TARGET ${target})
      tandem_add_half(${target} ${function} ${type} ${header} "${half_files}" "${half_descriptors}")
    else()
      list(JOIN half_files "|" half_files)
      list(JOIN half_descriptors "|" half_descriptors)
      set_property(GLOBAL APPEND PROPERTY TANDEM_HALVES_OF_${target} ${function} ${type} ${header}
                                          "${half_files}" "${half_descriptors}")
    endif()
  endif()
endfunction()

# tandem_catalogue_halves(TARGET) gives TARGET, which was just made, the other halves of the catalogues
# that name it.
function(tandem_catalogue_halves target)
  get_property(halves GLOBAL PROPERTY TANDEM_HALVES_OF_${target})
  while(halves)
    list(POP_FRONT halves function type header files descriptors)
    string(REPLACE "|" ";" files "${files}")
    string(REPLACE "|" ";" descriptors "${descriptors}")
    tandem_add_half(${target} ${function} ${type} ${header} "${files}" "${descriptors}")
  endwhile()
endfunction()

# Sets half_files, with their whole paths, and half_descriptors to those in FOLDER that belong to these.
function(tandem_other_half files descriptors folder suffix optional)
  set(half_files "")
  set(half_descriptors "")
  foreach(file descriptor IN ZIP_LISTS files descriptors)
    cmake_path(GET file FILENAME name)
    if(EXISTS "${folder}/${name}")
      list(APPEND half_files "${folder}/${name}")
      list(APPEND half_descriptors ${descriptor}${suffix})
    elseif(NOT optional)
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt: ${file} needs "
                          "${folder}/${name}, which defines ${descriptor}${suffix}")
    endif()
  endforeach()
  set(half_files "${half_files}" PARENT_SCOPE)
  set(half_descriptors "${half_descriptors}" PARENT_SCOPE)
endfunction()

# Files have their whole paths, below this folder.
function(tandem_add_half target function type header files descriptors)
  set(here "")
  foreach(file IN LISTS files)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND here ${file})
  endforeach()
  tandem_catalogue_table(${target} ${function} ${type} ${header} "${here}" "${descriptors}")
  set_source_files_properties(${here} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# The sources of one table and the table itself.
function(tandem_catalogue_table target function type header files descriptors)
  string(REGEX MATCH "^(.*)::([A-Za-z]+)$" matched "${function}")
  set(namespace "${CMAKE_MATCH_1}")
  set(name "${CMAKE_MATCH_2}")
  set(declarations "")
  set(rows "")
  foreach(descriptor IN LISTS descriptors)
    string(APPEND declarations "extern const ${type} ${descriptor};\n")
    string(APPEND rows "    &${descriptor},\n")
  endforeach()
  list(REMOVE_DUPLICATES files)
  set(table "${CMAKE_CURRENT_BINARY_DIR}/${name}_table.cc")
  file(
    CONFIGURE
    OUTPUT "${table}"
    CONTENT
      "// Written by tandem_catalogue (cmake/TandemCatalogue.cmake) from the list in CMakeLists.txt.
#include \"${header}\"

namespace ${namespace} {

${declarations}
std::span<const ${type}* const> ${name}() {
  static constexpr const ${type}* kTable[] = {
${rows}  };
  return kTable;
}

}  // namespace ${namespace}
"
    @ONLY)
  target_sources(${target} PRIVATE ${files} "${table}")
  tandem_check_lines("${files}")
endfunction()

# Fails for a source beside these files that no target of this folder compiles. A file that is added
# or removed there makes CMake run again.
function(tandem_check_lines files)
  foreach(file IN LISTS files)
    cmake_path(GET file PARENT_PATH folder)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder})
    set_property(DIRECTORY APPEND PROPERTY TANDEM_ENTRY_FOLDERS ${folder})
  endforeach()
  cmake_language(DEFER CANCEL_CALL tandem_check_lines)
  cmake_language(DEFER ID tandem_check_lines CALL tandem_check_entry_folders)
endfunction()

# Called when the folder's CMakeLists.txt has been read.
function(tandem_check_entry_folders)
  get_property(folders DIRECTORY PROPERTY TANDEM_ENTRY_FOLDERS)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  set(compiled "")
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    list(APPEND compiled ${sources})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    file(GLOB found RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${folder}/*.cc")
    foreach(file IN LISTS found)
      if(NOT file IN_LIST compiled)
        message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/${file} lies beside entries of a catalogue "
                            "and has no line in CMakeLists.txt")
      endif()
    endforeach()
  endforeach()
endfunction()
