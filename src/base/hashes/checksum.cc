#include "base/hashes/checksum.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/hashes/first_checksum.h"
#include "base/process/threads.h"

namespace tandem {
namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;
constexpr std::string_view kXxh128Prefix = "xxh128:";

Checksum Xxh128Of(const void* bytes, size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(bytes, size);
  return {hash.high64, hash.low64};
}

Checksum ChecksumOfPiece(std::string_view bytes, ChecksumKind kind) {
  return kind == ChecksumKind::kFirst ? FirstChecksumOfPiece(bytes)
                                      : Xxh128Of(bytes.data(), bytes.size());
}

Checksum Join(const std::vector<Checksum>& pieces, uint64_t bytes, ChecksumKind kind) {
  if (kind == ChecksumKind::kFirst) return JoinedFirstChecksums(pieces, bytes);
  std::vector<XXH128_canonical_t> digests(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    XXH128_canonicalFromHash(&digests[i], {pieces[i].low, pieces[i].high});
  }
  return Xxh128Of(digests.data(), digests.size() * sizeof(XXH128_canonical_t));
}

size_t PieceCount(uint64_t bytes) { return (bytes + kPieceBytes - 1) / kPieceBytes; }

// A file that is read at several places at a time.
class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(const std::filesystem::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) Fail();
  }
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;
  ~ReadOnlyFile() { ::close(descriptor_); }

  uint64_t size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) Fail();
    return static_cast<uint64_t>(status.st_size);
  }

  // Fills `to` with what the file has at `offset`.
  void Read(uint64_t offset, std::span<char> to) const {
    errno = 0;  // where the file has become shorter
    if (!ReadPart(descriptor_, offset, to.data(), to.size())) Fail();
  }

 private:
  [[noreturn]] void Fail() const {
    throw DataError(path_.native(), 0, "", fmt::format("cannot be read: {}", std::strerror(errno)));
  }

  const std::filesystem::path& path_;
  int descriptor_;
};

}  // namespace

std::string ToHex(const Checksum& checksum) {
  const bool is_first = checksum.kind == ChecksumKind::kFirst;
  return fmt::format("{}{:016x}{:016x}", is_first ? "" : kXxh128Prefix, checksum.high,
                     checksum.low);
}

std::optional<Checksum> ChecksumFromHex(std::string_view text) {
  Checksum checksum;
  if (text.starts_with(kXxh128Prefix)) {
    text.remove_prefix(kXxh128Prefix.size());
  } else {
    checksum.kind = ChecksumKind::kFirst;
  }
  if (text.size() != 32) return std::nullopt;
  const auto read = [](std::string_view half, uint64_t* value) {
    const char* const end = half.data() + half.size();
    const auto [stop, error] = std::from_chars(half.data(), end, *value, 16);
    return error == std::errc() && stop == end;
  };
  if (!read(text.substr(0, 16), &checksum.high) || !read(text.substr(16), &checksum.low)) {
    return std::nullopt;
  }
  return checksum;
}

Checksum ChecksumOf(std::string_view bytes, ChecksumKind kind) {
  std::vector<Checksum> pieces;
  for (size_t begin = 0; begin < bytes.size(); begin += kPieceBytes) {
    pieces.push_back(ChecksumOfPiece(bytes.substr(begin, kPieceBytes), kind));
  }
  return Join(pieces, bytes.size(), kind);
}

Checksum ChecksumOfFile(const std::filesystem::path& path, uint64_t bytes, int threads,
                        ChecksumKind kind) {
  const ReadOnlyFile file(path);
  if (const uint64_t found = file.size(); found != bytes) {
    throw DataError(path.native(), 0, "", fmt::format("has {} bytes, expected {}", found, bytes));
  }
  std::vector<Checksum> pieces(PieceCount(bytes));
  constexpr size_t kGrain = 4;  // pieces that share a buffer
  ParallelFor(pieces.size(), kGrain, threads, [&](size_t begin, size_t end) {
    std::vector<char> buffer(std::min<uint64_t>(kPieceBytes, bytes));
    for (size_t piece = begin; piece < end; ++piece) {
      const uint64_t offset = piece * kPieceBytes;
      const size_t size = std::min<uint64_t>(kPieceBytes, bytes - offset);
      file.Read(offset, std::span(buffer).first(size));
      pieces[piece] = ChecksumOfPiece({buffer.data(), size}, kind);
    }
  });
  return Join(pieces, bytes, kind);
}

}  // namespace tandem
