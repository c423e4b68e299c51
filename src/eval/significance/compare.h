// Compares systems with the first one: means, differences, and whether they could be chance.
//
//   std::vector<System> systems = {{"bm25", EvaluateRun(...), samples}, {"model", ...}};
//   const Comparison comparison = Compare(systems, {.seed = 1, .threads = 8});
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/evaluate.h"
#include "eval/samples/auc.h"
#include "eval/significance/bootstrap.h"
#include "eval/significance/significance.h"

namespace tandem::eval {

struct System {
  std::string name;
  Evaluation evaluation;
  // Samples of the evaluation's queries, in any order: needed where a measure pools its queries.
  std::vector<QuerySamples> samples;
  // Of a recipe (eval/significance/seeds.h): the evaluation of each seed, whose mean `evaluation`
  // is. Empty: a single model or run.
  std::vector<Evaluation> seeds;
};

struct CompareOptions {
  uint64_t seed = 0;
  size_t permutations = kUsualPermutations;
  size_t resamples = 10'000;
  double confidence = 0.95;
  int threads = 1;
};

// One measure of one system beside the baseline.
struct MeasureDifference {
  std::string measure;
  size_t queries = 0;   // with a value in both systems
  double baseline = 0;  // the means over these queries (pooled: the values)
  double mean = 0;
  double difference = 0;  // mean - baseline
  Interval interval;      // of the difference, bootstrap percentiles
  size_t resamples = 0;
  double p_value =
      1;              // two-sided (eval/significance/significance.h, eval/significance/swap_test.h)
  double holm_p = 1;  // adjusted over the systems that are compared with the baseline
  size_t permutations = 0;
  bool exact = false;
  std::optional<double> effect_size;  // Cohen's d_z; none for pooled measures
  // One of the systems is a recipe: the interval is that of IntervalOverSeeds, the test that of the
  // means over seeds, which knows nothing of other seeds.
  bool over_seeds = false;

  // Says whether the difference is seen: the adjusted p is below 1 - confidence, and, over seeds,
  // the interval leaves out 0.
  bool Significant(double confidence) const {
    const bool apart = interval.low > 0 || interval.high < 0;
    return holm_p < 1 - confidence && (!over_seeds || apart);
  }
};

struct SystemComparison {
  std::string name;
  std::vector<MeasureDifference> measures;
};

struct Comparison {
  std::string baseline;
  std::vector<std::string> queries;       // that all systems were evaluated on, ascending
  std::vector<size_t> left_out;           // of each system: its queries that another one lacks
  std::vector<SystemComparison> systems;  // all but the first
};

// `systems` has at least two, evaluated with the same measures; their values are compared on the
// queries that all of them have. Throws DataError where there is none, and where a measure has no
// value in one of the systems; NumericError for a value that is not finite.
Comparison Compare(std::span<const System> systems, const CompareOptions& options);

// Says how one query's value differs.
struct QueryDifference {
  std::string query;
  double baseline = 0;
  double value = 0;
};

// The queries of `comparison` that gained most, best first, and those that lost most, worst first;
// at most `most` of each and none without a difference. Equal ones in the order of their ids. Empty
// for a measure that pools its queries.
struct Extremes {
  std::vector<QueryDifference> gained;
  std::vector<QueryDifference> lost;
};
Extremes ExtremesOf(const Comparison& comparison, const System& baseline, const System& system,
                    size_t measure, size_t most);

}  // namespace tandem::eval
