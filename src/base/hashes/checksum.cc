#include "base/hashes/checksum.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/files/file_parts.h"
#include "base/hashes/mix_words.h"
#include "base/process/threads.h"

namespace tandem {
namespace {

static_assert(std::endian::native == std::endian::little,
              "checksums are defined on little-endian words");

constexpr size_t kPieceBytes = size_t{4} << 20;
// A multiplication takes four cycles and one begins in each: eight independent ones keep the
// multiplier busy, and the memory then limits the speed.
constexpr size_t kLanes = 8;
constexpr size_t kStrideBytes = kLanes * sizeof(uint64_t);

using Lanes = std::array<uint64_t, kLanes>;

void AddStride(const char* at, Lanes* lanes) {
  Lanes words;
  std::memcpy(words.data(), at, kStrideBytes);
  for (size_t i = 0; i < kLanes; ++i) {
    uint64_t& lane = (*lanes)[i];
    // Where a word makes a factor zero, the rotated lane still depends on earlier words.
    lane = MixWords(lane ^ words[i], kHashWord) ^ std::rotl(lane, 23);
  }
}

uint64_t Fold(std::span<const uint64_t> words, uint64_t start) {
  uint64_t hash = start;
  for (const uint64_t word : words) {
    hash = MixWords(hash ^ word, kHashWord) ^ std::rotl(hash, 23);
  }
  return MixWords(hash, kHashEnd) ^ std::rotl(hash, 32);
}

Checksum FoldBoth(std::span<const uint64_t> words, uint64_t size) {
  return {Fold(words, kHashStart ^ size), Fold(words, kHashEnd + size * kHashWord)};
}

Checksum ChecksumOfPiece(std::string_view bytes) {
  Lanes lanes;
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = kHashStart + (i + 1) * kHashEnd;
  size_t done = 0;
  for (; done + kStrideBytes <= bytes.size(); done += kStrideBytes) {
    AddStride(bytes.data() + done, &lanes);
  }
  if (done < bytes.size()) {
    char last[kStrideBytes] = {};
    std::memcpy(last, bytes.data() + done, bytes.size() - done);
    AddStride(last, &lanes);
  }
  return FoldBoth(lanes, bytes.size());
}

Checksum Join(const std::vector<Checksum>& pieces, uint64_t bytes) {
  std::vector<uint64_t> words;
  words.reserve(2 * pieces.size());
  for (const Checksum& piece : pieces) words.insert(words.end(), {piece.high, piece.low});
  return FoldBoth(words, bytes);
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
  return fmt::format("{:016x}{:016x}", checksum.high, checksum.low);
}

std::optional<Checksum> ChecksumFromHex(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  Checksum checksum;
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

Checksum ChecksumOf(std::string_view bytes) {
  std::vector<Checksum> pieces;
  for (size_t begin = 0; begin < bytes.size(); begin += kPieceBytes) {
    pieces.push_back(ChecksumOfPiece(bytes.substr(begin, kPieceBytes)));
  }
  return Join(pieces, bytes.size());
}

Checksum ChecksumOfFile(const std::filesystem::path& path, uint64_t bytes, int threads) {
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
      pieces[piece] = ChecksumOfPiece({buffer.data(), size});
    }
  });
  return Join(pieces, bytes);
}

}  // namespace tandem
