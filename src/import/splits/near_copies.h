// Finds texts that are nearly the same.
//
// Two texts are near-copies if they are equal once normalised (lower case; everything but letters,
// digits and marks as one space), or if the sets of their groups of four characters have a Jaccard
// similarity of at least kLeast. Candidates come from MinHash signatures in bands (Broder,
// "On the resemblance and containment of documents", 1997; Leskovec, Rajaraman and Ullman, "Mining
// of Massive Datasets", chapter 3); the similarity of a candidate pair is then computed exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::import_data {

struct NearCopyRules {
  static constexpr size_t kGram = 4;        // characters
  static constexpr double kLeast = 0.8;     // Jaccard similarity
  static constexpr size_t kBands = 16;      // each of kRowsOfBand minima
  static constexpr size_t kRowsOfBand = 4;  // a pair at 0.8 is a candidate with 0.9998
  // In a band, a text is compared with at most so many before it: of thousands of texts that share
  // a band, none then costs more than these.
  static constexpr size_t kMostCompared = 64;
};

// "What's UP?" as "what s up".
std::string NormalText(std::string_view text);

// Joins near-copies: calls `join(i, j)` for pairs of numbers below `count`, by which all
// near-copies that were found are connected. `text(i)` gives the texts, UTF-8, in any order and
// several times. The order of the texts decides nothing but the order of the calls, except where
// more than kMostCompared share a band.
//
// Memory: 128 bytes a text and the normalised texts of one band's candidates. Time: 64 hashes for
// each character (7 s for 200,000 texts of 60 characters on a busy core), and comparisons.
void JoinNearCopies(size_t count, const std::function<std::string_view(size_t)>& text,
                    const std::function<void(size_t, size_t)>& join);

// The Jaccard similarity of the sets of four-character groups of two normalised texts; 1 for equal
// ones.
double GramSimilarity(std::string_view a, std::string_view b);

}  // namespace tandem::import_data
