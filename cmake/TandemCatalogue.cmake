# tandem_catalogue(TARGET FUNCTION TYPE HEADER
#                  ENTRIES file.cc kDescriptor
#                          ...)
# gives TARGET the sources of a catalogue and the table of their descriptors: FUNCTION, which HEADER
# declares, returns `std::span<const TYPE* const>` in the order given here. FUNCTION and TYPE are
# written with their namespace, in which each file defines its descriptor as
# `extern const TYPE kDescriptor{...}`.
#
# So an entry is one file and one line of the room's CMakeLists.txt.
function(tandem_catalogue target function type header)
  cmake_parse_arguments(PARSE_ARGV 4 ARG "" "" "ENTRIES")
  string(REGEX MATCH "^(.*)::([A-Za-z]+)$" matched "${function}")
  set(namespace "${CMAKE_MATCH_1}")
  set(name "${CMAKE_MATCH_2}")
  set(files "")
  set(declarations "")
  set(rows "")
  while(ARG_ENTRIES)
    list(POP_FRONT ARG_ENTRIES file descriptor)
    list(APPEND files ${file})
    string(APPEND declarations "extern const ${type} ${descriptor};\n")
    string(APPEND rows "    &${descriptor},\n")
  endwhile()
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
endfunction()
