// Finds texts that are nearly copies of earlier ones, with some hundred bytes for each.
//
//   NearCopies texts;
//   if (texts.Add(text)) ...   // an earlier text is much the same
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tandem::documents {

// Two texts are near-copies where their sets of three words side by side (words.h; of a text of
// fewer than three words its words) have much in common: where at least 26 of 32 hash values agree
// of which each does with the Jaccard similarity as its chance (MinHash, Broder 1997), and four of
// those that stand together (bands: Leskovec et al., Mining of Massive Datasets, 3.4). So texts of
// similarity 0.9 are found in about 97 of 100 cases, those of 0.7 taken for copies in about 10,
// those of 0.5 hardly ever. A text without words is no copy.
class NearCopies {
 public:
  // Whether the text is a near-copy of an earlier one that was none.
  bool Add(std::string_view text);

 private:
  static constexpr size_t kHashes = 32, kRows = 4, kEqual = 26;
  using Signature = std::array<uint32_t, kHashes>;

  static Signature Sign(const std::vector<uint64_t>& words);

  std::vector<Signature> signatures_;                  // of texts that are no copies
  std::unordered_multimap<uint64_t, uint32_t> bands_;  // hash of a band -> of signatures_
};

}  // namespace tandem::documents
