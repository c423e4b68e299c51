// The scored documents of all queries in one list by score: what ROC and precision-recall curves,
// thresholds and their resampling are read from.
//
// It is sorted once. A resample of the queries only gives each query a weight, so that thousands of
// resamples walk the same list (eval/samples/score_walk.h) and nothing is sorted again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "eval/samples/auc.h"

namespace tandem::eval {

// Documents of one query that have the same score.
struct LevelCount {
  uint32_t query = 0;  // index into the samples
  uint32_t positives = 0;
  uint32_t others = 0;  // documents that are no positives
};

// A level is a distinct score. A threshold at the score of a level shows the documents of this
// level and of all before it.
struct ScoreLevels {
  std::vector<double> scores;       // [L], descending
  std::vector<size_t> starts;       // [L + 1]: where each level begins in `counts`
  std::vector<LevelCount> counts;   // within a level in the order of queries
  std::vector<uint64_t> positives;  // [Q]: of each query, also those without a score
  std::vector<uint64_t> others;     // [Q]: on all levels

  size_t size() const { return scores.size(); }
  size_t queries() const { return positives.size(); }
  std::span<const LevelCount> CountsOf(size_t level) const {
    return std::span(counts).subspan(starts[level], starts[level + 1] - starts[level]);
  }
};

// The levels of the samples: the pool of METHODS, positives and each query's best other documents.
// Throws NumericError for a score that is NaN.
ScoreLevels PoolLevels(std::span<const QuerySamples> samples);

// One count more for the builder below.
struct ScoredCount {
  double score = 0;
  LevelCount count;
};
// Levels of counts in any order; sets scores, starts and counts, nothing else. Counts of one query
// on one level are added up.
ScoreLevels LevelsOf(std::vector<ScoredCount> counts);

}  // namespace tandem::eval
