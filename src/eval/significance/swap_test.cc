#include "eval/significance/swap_test.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/process/threads.h"
#include "base/random.h"
#include "eval/samples/score_levels.h"
#include "eval/samples/score_walk.h"
#include "eval/significance/bootstrap.h"

namespace tandem::eval {
namespace {

// A walk takes kLanes weightings: half of them are a system after so many swaps, the others the
// other system after the same.
constexpr size_t kPermutations = kLanes / 2;
constexpr double kSwapTieRoom = 1e-12;

// Adds the counts of one system, whose queries have indices from `offset` on, at scores that are
// ranks.
void AddRanked(const ScoreLevels& levels, uint32_t offset, std::vector<ScoredCount>& all) {
  double total = 0;
  for (const LevelCount& count : levels.counts) total += count.positives + count.others;
  double above = 0;
  for (size_t level = 0; level < levels.size(); ++level) {
    double here = 0;
    for (const LevelCount& count : levels.CountsOf(level)) here += count.positives + count.others;
    const double rank = (above + here / 2) / total;
    above += here;
    for (LevelCount count : levels.CountsOf(level)) {
      count.query += offset;
      all.push_back({-rank, count});
    }
  }
}

// Both systems as 2Q queries: query q of the first system is q, of the second Q + q.
ScoreLevels JointLevels(std::span<const QuerySamples> a, std::span<const QuerySamples> b) {
  const ScoreLevels of_a = PoolLevels(a), of_b = PoolLevels(b);
  std::vector<ScoredCount> all;
  all.reserve(of_a.counts.size() + of_b.counts.size());
  AddRanked(of_a, 0, all);
  AddRanked(of_b, static_cast<uint32_t>(a.size()), all);
  ScoreLevels joint = LevelsOf(std::move(all));
  joint.positives = of_a.positives;
  joint.positives.insert(joint.positives.end(), of_b.positives.begin(), of_b.positives.end());
  joint.others = of_a.others;
  joint.others.insert(joint.others.end(), of_b.others.begin(), of_b.others.end());
  return joint;
}

std::vector<double> Sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

// Queries whose samples are not the same in both systems: swapping others changes nothing.
std::vector<size_t> ChangedQueries(std::span<const QuerySamples> a,
                                   std::span<const QuerySamples> b) {
  std::vector<size_t> changed;
  for (size_t q = 0; q < a.size(); ++q) {
    const bool same = a[q].missing_positives == b[q].missing_positives &&
                      Sorted(a[q].positives) == Sorted(b[q].positives) &&
                      Sorted(a[q].negatives) == Sorted(b[q].negatives);
    if (!same) changed.push_back(q);
  }
  return changed;
}

struct Differences {
  double auc = 0, partial_auc = 0, average_precision = 0;
};

Differences DifferencesIn(const FigureLanes& figures, size_t permutation) {
  const auto of = [permutation](const Lanes& lanes) {
    const double difference = std::abs(lanes[permutation] - lanes[kPermutations + permutation]);
    return std::isnan(difference) ? 0 : difference;
  };
  return {of(figures.auc), of(figures.partial_auc), of(figures.average_precision)};
}

// Weights [2Q] of `count` permutations from `first` on; swapped(permutation, i) says whether the
// i-th of the changed queries is swapped.
template <typename Swapped>
LaneWeights WeightsOf(size_t queries, std::span<const size_t> changed, size_t first, size_t count,
                      Swapped swapped) {
  LaneWeights weights(2 * queries, Lanes{});
  for (size_t p = 0; p < count; ++p) {
    std::vector<bool> swaps(queries, false);
    for (size_t i = 0; i < changed.size(); ++i) swaps[changed[i]] = swapped(first + p, i);
    for (size_t q = 0; q < queries; ++q) {
      weights[swaps[q] ? queries + q : q][p] = 1;
      weights[swaps[q] ? q : queries + q][kPermutations + p] = 1;
    }
  }
  return weights;
}

struct FarCounts {
  std::atomic<size_t> auc{0}, partial_auc{0}, average_precision{0};
};

// Draws which queries a permutation swaps: bits of a stream of its own.
class RandomSwaps {
 public:
  explicit RandomSwaps(uint64_t seed) : seed_(seed) {}
  bool operator()(size_t permutation, size_t i) {
    if (i == 0) stream_ = RandomStream({.seed = seed_, .purpose = "swaps", .epoch = permutation});
    if (i % 64 == 0) bits_ = stream_.Next();
    return (bits_ >> (i % 64) & 1) != 0;
  }

 private:
  uint64_t seed_;
  RandomStream stream_{{}};
  uint64_t bits_ = 0;
};

}  // namespace

SwapResult SwapTest(std::span<const QuerySamples> a, std::span<const QuerySamples> b,
                    const TestOptions& options) {
  if (a.size() != b.size()) throw std::logic_error("both systems have the same queries");
  const size_t queries = a.size();
  const ScoreLevels joint = JointLevels(a, b);
  const std::vector<size_t> changed = ChangedQueries(a, b);
  const auto none_swapped = [](size_t, size_t) { return false; };
  const Differences observed =
      DifferencesIn(FiguresOf(joint, WeightsOf(queries, changed, 0, 1, none_swapped)), 0);
  const size_t asked = Repetitions(options.permutations, joint.counts.size());
  const bool exact = changed.size() < 32 && size_t{1} << changed.size() <= asked;
  const size_t permutations = exact ? size_t{1} << changed.size() : asked;
  FarCounts far;
  ParallelFor(permutations, kPermutations, options.threads, [&](size_t begin, size_t end) {
    RandomSwaps random(options.seed);
    const LaneWeights weights =
        WeightsOf(queries, changed, begin, end - begin, [&](size_t permutation, size_t i) {
          return exact ? (permutation >> i & 1) != 0 : random(permutation, i);
        });
    const FigureLanes figures = FiguresOf(joint, weights);
    for (size_t p = 0; p < end - begin; ++p) {
      const Differences swapped = DifferencesIn(figures, p);
      far.auc += swapped.auc >= observed.auc - kSwapTieRoom;
      far.partial_auc += swapped.partial_auc >= observed.partial_auc - kSwapTieRoom;
      far.average_precision +=
          swapped.average_precision >= observed.average_precision - kSwapTieRoom;
    }
  });
  const auto result = [&](size_t count) -> TestResult {
    const size_t drawn = exact ? 0 : 1;
    return {static_cast<double>(count + drawn) / static_cast<double>(permutations + drawn),
            permutations, exact};
  };
  return {result(far.auc), result(far.partial_auc), result(far.average_precision)};
}

}  // namespace tandem::eval
