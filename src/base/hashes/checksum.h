// Checksums of files: against damage, not against those who alter files on purpose.
//
// A file is cut into pieces of 4 MiB, so that several threads read it at a time. Its checksum is
// the XXH128 (xxHash 0.8) of the XXH128s of its pieces, one after the other in their canonical
// form. The same on every machine.
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

// Of bytes in memory; what ChecksumOfFile says of a file with these bytes. To compare with a
// checksum that was written, ask for its kind.
Checksum ChecksumOf(std::string_view bytes, ChecksumKind kind = ChecksumKind::kXxh128);

// Reads the file without mapping it, so that its pages do not count as this process's memory, with
// a buffer of 4 MiB a thread. Throws DataError where it cannot be read, or has not `bytes` bytes.
Checksum ChecksumOfFile(const std::filesystem::path& path, uint64_t bytes, int threads,
                        ChecksumKind kind = ChecksumKind::kXxh128);

}  // namespace tandem
