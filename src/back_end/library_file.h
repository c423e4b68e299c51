// Tells what a file is that shall be loaded as a library. The dynamic linker does not ask how long
// it is: a program that loads half a library ends by SIGBUS.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tandem::back_end {

struct LibraryFile {
  enum class Kind { kNotThere, kNoLibrary, kCutShort, kLibrary };

  Kind kind = Kind::kNotThere;
  // Of one that is cut short: the bytes that there are, and those that its headers tell of.
  uint64_t bytes = 0;
  uint64_t whole_bytes = 0;
};

// Reads the headers of an ELF file, and loads nothing. A file that cannot be read, or is of another
// machine, counts as a library: the dynamic linker says what is wrong with it.
LibraryFile LookAtLibrary(const std::filesystem::path& path);

}  // namespace tandem::back_end
