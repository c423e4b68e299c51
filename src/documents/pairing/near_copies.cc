#include "documents/pairing/near_copies.h"

#include <algorithm>
#include <limits>

#include "base/hashes/mix_words.h"
#include "documents/passages/words.h"

namespace tandem::documents {
namespace {

constexpr size_t kShingle = 3;                 // words
constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio

}  // namespace

NearCopies::Signature NearCopies::Sign(const std::vector<uint64_t>& words) {
  Signature signature;
  signature.fill(std::numeric_limits<uint32_t>::max());
  const size_t width = std::min(kShingle, words.size());
  for (size_t i = 0; i + width <= words.size(); ++i) {
    uint64_t shingle = 0;
    for (size_t w = 0; w < width; ++w) shingle = FinalizeSplitMix(shingle + kOdd + words[i + w]);
    for (size_t h = 0; h < kHashes; ++h) {
      const auto value = static_cast<uint32_t>(FinalizeSplitMix(shingle ^ ((h + 1) * kOdd)) >> 32);
      signature[h] = std::min(signature[h], value);
    }
  }
  return signature;
}

bool NearCopies::Add(std::string_view text) {
  const std::vector<uint64_t> words = WordHashes(text);
  if (words.empty()) return false;
  const Signature signature = Sign(words);
  std::array<uint64_t, kHashes / kRows> bands;
  for (size_t b = 0; b < bands.size(); ++b) {
    bands[b] = FinalizeSplitMix(b + 1);
    for (size_t r = 0; r < kRows; ++r) {
      bands[b] = FinalizeSplitMix(bands[b] + kOdd + signature[b * kRows + r]);
    }
    const auto [begin, end] = bands_.equal_range(bands[b]);
    for (auto at = begin; at != end; ++at) {
      const Signature& other = signatures_[at->second];
      size_t equal = 0;
      for (size_t h = 0; h < kHashes; ++h) equal += signature[h] == other[h];
      if (equal >= kEqual) return true;
    }
  }
  for (const uint64_t band : bands) bands_.emplace(band, static_cast<uint32_t>(signatures_.size()));
  signatures_.push_back(signature);
  return false;
}

}  // namespace tandem::documents
