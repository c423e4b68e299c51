// Shows what a threshold yields in the whole corpus, not only in the samples.
//
// The samples of a query end at its best 500 documents that are no positives. Below the score of
// the last of them the samples know of no further document, and a precision that is counted there
// would be too high. So levels at such scores come from a second count: how many documents of the
// corpus score at least that (search/scoring/score_counts.h), or, where nobody can count (a run
// ends at its depth), they are left out.
//
//   const double border = BorderOf(floors);
//   const std::vector<double> candidates = CandidateThresholds(samples, border, further);
//   ... count, for each query, the documents of the corpus that score at least each candidate ...
//   const CorpusLevels levels = LevelsOfCorpus(samples, floors, {candidates, counts});
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "eval/samples/score_levels.h"

namespace tandem::eval {

// A query whose samples hold all documents of the corpus has this floor.
inline constexpr double kNoFloor = -std::numeric_limits<double>::infinity();

// The floors of samples that a search of a whole corpus collected, [Q]: the lowest negative of a
// query that has kNegativesPerQuery, else kNoFloor. Documents at the floor itself may be missing.
std::vector<double> FloorsOf(std::span<const QuerySamples> samples);

// The highest floor. Above it the samples know every document of every query.
double BorderOf(std::span<const double> floors);

// Scores at or below the border at which the corpus should be counted, descending: the distinct
// scores of positives, at most 2,048 spread evenly over them; scores of other documents, at most
// 1,024; and those of `further` that are at or below the border.
std::vector<double> CandidateThresholds(std::span<const QuerySamples> samples, double border,
                                        std::span<const double> further);

// Says how many documents of the corpus, positives included, score at least a threshold.
struct CorpusCounts {
  std::vector<double> thresholds;  // [T], descending
  std::vector<uint32_t> counts;    // [Q, T]
};

struct CorpusLevels {
  ScoreLevels levels;
  // Thresholds at or below it are unknown: kNoFloor where the levels reach down to the lowest score
  // or to the lowest candidate.
  double unknown_from = kNoFloor;
  size_t cut_queries = 0;  // whose results end at a floor
};

// The levels of samples above the border, and of `counted` from there on; null: nothing was
// counted, and what is at or below the border is left out. `floors` are [Q]. Throws NumericError
// for a score that is NaN.
CorpusLevels LevelsOfCorpus(std::span<const QuerySamples> samples, std::span<const double> floors,
                            const CorpusCounts* counted);

}  // namespace tandem::eval
