#include "back_end/library_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <system_error>
#include <vector>

namespace tandem::back_end {
namespace {

namespace fs = std::filesystem;

using Kind = LibraryFile::Kind;

// Where a part of a file ends; the headers of a damaged file may tell of any numbers.
uint64_t End(uint64_t offset, uint64_t bytes) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  return offset > most - bytes ? most : offset + bytes;
}

uint64_t EndOfProgramHeaders(const Elf64_Ehdr& header) {
  return End(header.e_phoff, uint64_t{header.e_phnum} * header.e_phentsize);
}

uint64_t EndOfSectionHeaders(const Elf64_Ehdr& header) {
  return End(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize);
}

// The end of what the program headers tell of; they must lie in the file.
uint64_t EndOfSegments(std::ifstream& file, const Elf64_Ehdr& header) {
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return 0;  // the dynamic linker refuses it
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  file.read(reinterpret_cast<char*>(segments.data()),
            static_cast<std::streamsize>(segments.size() * sizeof(Elf64_Phdr)));
  uint64_t end = 0;
  for (const Elf64_Phdr& segment : segments) {
    end = std::max(end, End(segment.p_offset, segment.p_filesz));
  }
  return end;
}

LibraryFile Library(uint64_t bytes, uint64_t whole_bytes) {
  return {.kind = bytes < whole_bytes ? Kind::kCutShort : Kind::kLibrary,
          .bytes = bytes,
          .whole_bytes = whole_bytes};
}

LibraryFile LookAtFile(std::ifstream& file, uint64_t bytes) {
  Elf64_Ehdr header = {};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  file.clear();  // it may be shorter
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {.kind = Kind::kNoLibrary};
  if (bytes < sizeof header) return Library(bytes, sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return {.kind = Kind::kLibrary};
  }
  const uint64_t headers = std::max(EndOfProgramHeaders(header), EndOfSectionHeaders(header));
  const bool has_program_headers = EndOfProgramHeaders(header) <= bytes;
  const uint64_t segments = has_program_headers ? EndOfSegments(file, header) : 0;
  return Library(bytes, std::max(headers, segments));
}

}  // namespace

LibraryFile LookAtLibrary(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return {.kind = Kind::kNotThere};
  if (!fs::status_known(status)) return {.kind = Kind::kLibrary};
  if (!fs::is_regular_file(status)) return {.kind = Kind::kNoLibrary};
  const uint64_t bytes = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return {.kind = Kind::kLibrary};
  return LookAtFile(file, bytes);
}

}  // namespace tandem::back_end
