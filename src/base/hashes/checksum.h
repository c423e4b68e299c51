// Checksums of files: against damage, not against those who alter files on purpose.
//
// A file's checksum is made of those of its pieces of 4 MiB, so that several threads read it at a
// time. The same on every machine (little-endian words).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

struct Checksum {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const Checksum&) const = default;
};

// 32 hexadecimal digits, and back; nothing for any other text.
std::string ToHex(const Checksum& checksum);
std::optional<Checksum> ChecksumFromHex(std::string_view text);

// Of bytes in memory; what ChecksumOfFile says of a file with these bytes.
Checksum ChecksumOf(std::string_view bytes);

// Reads the file without mapping it, so that its pages do not count as this process's memory, with
// a buffer of 4 MiB a thread. Throws DataError where it cannot be read, or has not `bytes` bytes.
Checksum ChecksumOfFile(const std::filesystem::path& path, uint64_t bytes, int threads);

}  // namespace tandem
