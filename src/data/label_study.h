// What the papers' studies do to labels: leaving out low grades, flipping labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/training_set.h"

namespace tandem::data {

// What stays: the judged documents from the cut-off on, or as many at random, the study's control.
enum class CutOff { kBest, kRandom };

// Moves judged documents below `minimum_grade` (in the set's grades) of the examples `which` to
// `unused`; with kRandom as many, drawn over all of these examples together. Returns those of
// `which` that still have an own document.
std::vector<uint32_t> CutGrades(TrainingSet& set, std::span<const uint32_t> which,
                                double minimum_grade, CutOff cut_off, uint64_t seed);

// Every positive gets grade 1, every other judged document grade 0; positive_grade becomes 1.
void Binarize(TrainingSet& set);

struct FlippedLabels {
  size_t flipped = 0;
  size_t labels = 0;
};

// With probability p, each on its own, the grade z in [0, 1] of a judged document of the examples
// `which` becomes 1 - z. A positive that is lost this way passes its grade on to a random document
// of the corpus that is not judged for the query and not a copy of one that is: sets without judged
// negatives get false positives too, and no query loses its last positive.
FlippedLabels FlipLabels(TrainingSet& set, std::span<const uint32_t> which, double probability,
                         uint64_t seed);

}  // namespace tandem::data
