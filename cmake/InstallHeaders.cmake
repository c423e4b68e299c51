# Run when Tandem is installed, with TANDEM_SOURCE (the folder `src`), TANDEM_ROOMS (those that are
# installed) and TANDEM_INCLUDE_FOLDER set: installs the headers that a user of the rooms can want. These
# are the headers that a file of another room includes, and what these headers include themselves. Every
# other header is its own room's business.

# Sets RESULT to the files of Tandem that FILE includes, without those that the build makes.
set(TANDEM_MADE_HEADERS back_end/interface.h)
function(tandem_includes_of result file)
  file(STRINGS "${TANDEM_SOURCE}/${file}" lines REGEX "^#include \"")
  list(TRANSFORM lines REPLACE "^#include \"([^\"]+)\".*" "\\1")
  list(REMOVE_ITEM lines ${TANDEM_MADE_HEADERS})
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

# What users of the back end want of it, of which no other room includes anything.
set(TANDEM_HEADERS_libtorch libtorch/bridge.h libtorch/use.h)

list(JOIN TANDEM_ROOMS "|" rooms)
file(GLOB_RECURSE files RELATIVE "${TANDEM_SOURCE}" "${TANDEM_SOURCE}/*.h" "${TANDEM_SOURCE}/*.cc")
set(headers "")
foreach(room IN LISTS TANDEM_ROOMS)
  list(APPEND headers ${TANDEM_HEADERS_${room}})
endforeach()
foreach(file IN LISTS files)
  string(REGEX REPLACE "/.*" "" own_room "${file}")
  tandem_includes_of(includes "${file}")
  list(FILTER includes INCLUDE REGEX "^(${rooms})/")
  list(FILTER includes EXCLUDE REGEX "^${own_room}/")
  list(APPEND headers ${includes})
endforeach()
list(REMOVE_DUPLICATES headers)
set(new ${headers})
while(new)
  list(POP_FRONT new header)
  tandem_includes_of(includes "${header}")
  list(FILTER includes INCLUDE REGEX "^(${rooms})/")
  list(REMOVE_ITEM includes ${headers})
  list(APPEND headers ${includes})
  list(APPEND new ${includes})
endwhile()

foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  file(INSTALL "${TANDEM_SOURCE}/${header}" DESTINATION "${TANDEM_INCLUDE_FOLDER}/${folder}")
endforeach()
