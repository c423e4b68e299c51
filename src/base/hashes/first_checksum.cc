#include "base/hashes/first_checksum.h"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "base/hashes/mix_words.h"

namespace tandem {
namespace {

static_assert(std::endian::native == std::endian::little,
              "checksums are defined on little-endian words");

// A multiplication takes four cycles and one begins in each: eight independent ones keep the
// multiplier busy.
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
  return {Fold(words, kHashStart ^ size), Fold(words, kHashEnd + size * kHashWord),
          ChecksumKind::kFirst};
}

}  // namespace

Checksum FirstChecksumOfPiece(std::string_view bytes) {
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

Checksum JoinedFirstChecksums(std::span<const Checksum> pieces, uint64_t bytes) {
  std::vector<uint64_t> words;
  words.reserve(2 * pieces.size());
  for (const Checksum& piece : pieces) words.insert(words.end(), {piece.high, piece.low});
  return FoldBoth(words, bytes);
}

}  // namespace tandem
