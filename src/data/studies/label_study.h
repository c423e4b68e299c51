// Changes of labels for the papers' studies: leaving out low grades, binary grades, noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/training_set.h"

namespace tandem::data {

// Says which judged documents stay: those from the minimum grade on, or as many drawn at random,
// which is the study's control.
enum class CutOff { kBest, kRandom };

// Moves the judged documents below `minimum_grade` (in the set's grades) of the examples `which` to
// `unused`. With kRandom it moves as many documents, drawn from all judged documents of these
// examples. Returns those of `which` that still have a paired document.
std::vector<uint32_t> CutGrades(TrainingSet& set, std::span<const uint32_t> which,
                                double minimum_grade, CutOff cut_off, uint64_t seed);

// Every positive gets grade 1, every other judged document grade 0; positive_grade becomes 1.
void Binarize(TrainingSet& set);

struct SwappedLabels {
  size_t swapped = 0;            // pairs
  size_t pairs = 0;              // positives of the examples
  size_t without_negatives = 0;  // examples that have no judged negative
  size_t with_both = 0;          // examples that have a positive and a judged negative
  // Pairs that were drawn and stay as they are, because their query had a judged negative but none
  // was left.
  size_t none_left = 0;
};

// Exchanges the grade of each positive of the examples `which`, with the given probability and
// independently of the others, with that of a judged negative (grade 0) of its query, drawn
// uniformly from those that no other positive was exchanged with. So the query keeps its number of
// positives. Examples without a judged negative stay as they are, and so do positives for which
// none is left. Source: BiXSE, figure 2.
SwappedLabels SwapLabels(TrainingSet& set, std::span<const uint32_t> which, double probability,
                         uint64_t seed);

struct FlippedLabels {
  size_t flipped = 0;
  size_t labels = 0;
};

// Changes the grade z in [0, 1] of each judged document of the examples `which` to 1 - z, with the
// given probability, independently of the others. Where a positive loses its place this way, a
// random document of the corpus takes over its grade; it is not judged for the query and not a copy
// of a document that is. So data without judged negatives get false positives too, and no query
// loses its last positive.
FlippedLabels FlipLabels(TrainingSet& set, std::span<const uint32_t> which, double probability,
                         uint64_t seed);

}  // namespace tandem::data
