# Writes OUTPUT, a header with the MD5 of all headers of the rooms ROOMS (a;b) under SOURCE: what the
# program and its plug-in must agree on to the byte. The file keeps its time where nothing has changed.
#   cmake -DSOURCE=src -DROOMS=base;tensor -DOUTPUT=interface.h -P WriteInterface.cmake
cmake_minimum_required(VERSION 3.25) # a script has no policies of the project
set(headers "")
foreach(room IN LISTS ROOMS)
  file(GLOB_RECURSE found RELATIVE "${SOURCE}" "${SOURCE}/${room}/*.h")
  list(APPEND headers ${found})
endforeach()
list(SORT headers)
set(hashes "")
foreach(header IN LISTS headers)
  file(MD5 "${SOURCE}/${header}" hash)
  string(APPEND hashes "${header} ${hash}\n")
endforeach()
string(MD5 interface "${hashes}")
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT
"// Made by cmake/WriteInterface.cmake.
#pragma once

namespace tandem::back_end {

// The MD5 of the headers that the program and its plug-in share.
inline constexpr char kInterface[] = \"@interface@\";

}  // namespace tandem::back_end
" @ONLY)
