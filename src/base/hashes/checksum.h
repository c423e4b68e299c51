// Checksums of files: they find damage, not files that someone altered on purpose.
//
// A file is cut into pieces of 4 MiB, so that several threads read it at a time. Its checksum is
// the XXH128 (xxHash 0.8) of the XXH128s of its pieces, one after the other in their canonical
// form. It is the same on every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

enum class ChecksumKind {
  kXxh128,
  kFirst  // base/hashes/first_checksum.h, of files that earlier versions wrote
};

struct Checksum {
  uint64_t high = 0;
  uint64_t low = 0;
  ChecksumKind kind = ChecksumKind::kXxh128;
  bool operator==(const Checksum&) const = default;
};

// "xxh128:" and 32 hexadecimal digits (of the first kind the digits alone), and back; nothing for
// any other text.
std::string ToHex(const Checksum& checksum);
std::optional<Checksum> ChecksumFromHex(std::string_view text);

// The checksum of bytes in memory equals ChecksumOfFile of a file with these bytes. Who compares it
// with a checksum that was written asks for that one's kind.
Checksum ChecksumOf(std::string_view bytes, ChecksumKind kind = ChecksumKind::kXxh128);

// Reads the file without mapping it, so that its pages do not count as this process's memory, with
// a buffer of 4 MiB a thread. Throws DataError where it cannot be read, or has not `bytes` bytes.
Checksum ChecksumOfFile(const std::filesystem::path& path, uint64_t bytes, int threads,
                        ChecksumKind kind = ChecksumKind::kXxh128);

}  // namespace tandem
