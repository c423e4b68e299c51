#include "eval/samples/thresholds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/process/threads.h"
#include "eval/samples/roc.h"
#include "eval/samples/threshold_choice.h"

namespace tandem::eval {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool ReadsPool(const Target& target) {
  return target.kind == TargetKind::kRecall || target.kind == TargetKind::kFalsePositiveRate;
}

LaneWeights FirstLaneOnly(size_t queries) {
  Lanes first{};
  first[0] = 1;
  return LaneWeights(queries, first);
}

// Documents of one query that a threshold shows, and those that there are.
struct QueryCounts {
  double found = 0;      // positives shown
  double positives = 0;  // all of the query
  double pool_shown = 0;
  double pool_others = 0;
  double others_shown = 0;  // of the corpus
};

// The counts of all queries at a threshold. `knows_corpus`: its score is one of the corpus's
// levels.
std::vector<QueryCounts> CountsAt(double threshold, const ScoreLevels& pool,
                                  const ScoreLevels& corpus, bool knows_corpus) {
  std::vector<QueryCounts> counts(pool.queries());
  for (size_t q = 0; q < counts.size(); ++q) {
    counts[q].positives = static_cast<double>(pool.positives[q]);
    counts[q].pool_others = static_cast<double>(pool.others[q]);
  }
  for (size_t level = 0; level < pool.size() && pool.scores[level] >= threshold; ++level) {
    for (const LevelCount& count : pool.CountsOf(level)) {
      counts[count.query].found += count.positives;
      counts[count.query].pool_shown += count.others;
    }
  }
  if (!knows_corpus) return counts;
  for (size_t level = 0; level < corpus.size() && corpus.scores[level] >= threshold; ++level) {
    for (const LevelCount& count : corpus.CountsOf(level)) {
      counts[count.query].others_shown += count.others;
    }
  }
  return counts;
}

struct Rates {
  double precision, recall, false_positive_rate, results;
};

// The rates of weighted queries; NaN where there is nothing to divide by. `weight_of(q)` is a
// number.
template <typename WeightOf>
Rates RatesOf(std::span<const QueryCounts> counts, WeightOf weight_of) {
  QueryCounts sum;
  double queries = 0;
  for (size_t q = 0; q < counts.size(); ++q) {
    const auto weight = static_cast<double>(weight_of(q));
    sum.found += weight * counts[q].found;
    sum.positives += weight * counts[q].positives;
    sum.pool_shown += weight * counts[q].pool_shown;
    sum.pool_others += weight * counts[q].pool_others;
    sum.others_shown += weight * counts[q].others_shown;
    queries += weight;
  }
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : kNone; };
  const double shown = sum.found + sum.others_shown;
  return {share(sum.found, shown), share(sum.found, sum.positives),
          share(sum.pool_shown, sum.pool_others), share(shown, queries)};
}

ThresholdIntervals IntervalsAt(std::span<const QueryCounts> counts, bool knows_corpus,
                               const BootstrapOptions& options) {
  const size_t resamples = options.resamples;
  std::vector<double> precision(resamples), recall(resamples), rate(resamples), results(resamples);
  ParallelFor(resamples, 64, options.threads, [&](size_t begin, size_t end) {
    std::vector<uint32_t> drawn(counts.size());
    for (size_t r = begin; r < end; ++r) {
      DrawCounts(options.seed, r, drawn);
      const Rates rates = RatesOf(counts, [&](size_t q) { return drawn[q]; });
      precision[r] = rates.precision;
      recall[r] = rates.recall;
      rate[r] = rates.false_positive_rate;
      results[r] = rates.results;
    }
  });
  ThresholdIntervals intervals{.recall = IntervalOfValues(recall, options.confidence),
                               .false_positive_rate = IntervalOfValues(rate, options.confidence)};
  if (knows_corpus) {
    intervals.precision = IntervalOfValues(precision, options.confidence);
    intervals.results = IntervalOfValues(results, options.confidence);
  }
  return intervals;
}

// Chooses the threshold in every resample.
void ResampleChoice(const ScoreLevels& levels, const BootstrapOptions& options,
                    ChosenThreshold& chosen) {
  std::vector<double> thresholds(options.resamples, kNone);
  ParallelFor(options.resamples, kLanes, options.threads, [&](size_t begin, size_t end) {
    const LaneWeights weights = DrawLanes(options.seed, begin, end - begin, levels.queries());
    const ChosenLevels found = ChooseLevels(levels, chosen.target, weights);
    for (size_t r = begin; r < end; ++r) {
      const size_t level = found.met[r - begin];
      if (level != kNoLevel) thresholds[r] = levels.scores[level];
    }
  });
  const auto met = std::count_if(thresholds.begin(), thresholds.end(),
                                 [](double threshold) { return !std::isnan(threshold); });
  chosen.met_share = static_cast<double>(met) / static_cast<double>(options.resamples);
  chosen.threshold_interval = IntervalOfValues(thresholds, options.confidence);
}

// Says whether lower thresholds, which are unknown, might do as well.
bool EndsAtDepth(const ScoreLevels& pool, const CorpusLevels& corpus, const Target& target,
                 size_t level) {
  if (ReadsPool(target) || corpus.unknown_from == kNoFloor) return false;
  if (pool.size() == 0 || pool.scores.back() > corpus.unknown_from) return false;
  // More results can be asked for only where the last level that is known still meets the target.
  return target.kind == TargetKind::kPrecision || level == kNoLevel ||
         level + 1 == corpus.levels.size();
}

ChosenThreshold Choose(const ScoreLevels& pool, const CorpusLevels& corpus, const Target& target,
                       const BootstrapOptions& options) {
  const ScoreLevels& levels = ReadsPool(target) ? pool : corpus.levels;
  const ChosenLevels found = ChooseLevels(levels, target, FirstLaneOnly(levels.queries()));
  ChosenThreshold chosen{.target = target, .met = found.met[0] != kNoLevel};
  chosen.ends_at_depth = EndsAtDepth(pool, corpus, target, found.met[0]);
  const size_t level = chosen.met ? found.met[0] : found.nearest[0];
  if (level == kNoLevel) return chosen;
  const double threshold = levels.scores[level];
  chosen.threshold = threshold;
  const std::vector<double>& known = corpus.levels.scores;
  const bool knows_corpus =
      std::binary_search(known.begin(), known.end(), threshold, std::greater<>());
  const std::vector<QueryCounts> counts = CountsAt(threshold, pool, corpus.levels, knows_corpus);
  const Rates rates = RatesOf(counts, [](size_t) { return 1; });
  chosen.values = {.recall = rates.recall, .false_positive_rate = rates.false_positive_rate};
  if (knows_corpus) {
    chosen.values.precision = rates.precision;
    chosen.values.results = rates.results;
  }
  chosen.intervals = IntervalsAt(counts, knows_corpus, options);
  ResampleChoice(levels, options, chosen);
  return chosen;
}

}  // namespace

double ShownScore(double score) {
  const auto single = static_cast<float>(score);
  if (!std::isfinite(score) || static_cast<double>(single) != score) return score;
  const double below = std::nextafter(single, -std::numeric_limits<float>::infinity());
  const double middle = below + (score - below) / 2;
  // Digits of a float that tell it from its neighbours: 9 at most, one more for the direction.
  for (int digits = 1; digits <= 10; ++digits) {
    // The nearest number of so many digits; where that is above the score, the one below.
    double shown = std::strtod(fmt::format("{:.{}e}", score, digits - 1).c_str(), nullptr);
    if (shown > score) {
      const double place = std::floor(std::log10(std::abs(shown))) - (digits - 1);
      shown = std::strtod(fmt::format("{:.{}e}", shown - std::pow(10, place), digits - 1).c_str(),
                          nullptr);
    }
    if (shown <= score && shown > middle) return shown;
  }
  return score;
}

std::vector<double> PoolThresholds(const ScoreLevels& pool, std::span<const Target> targets) {
  std::vector<double> thresholds;
  const LaneWeights weights = FirstLaneOnly(pool.queries());
  for (const Target& target : targets) {
    if (!ReadsPool(target)) continue;
    const ChosenLevels found = ChooseLevels(pool, target, weights);
    const size_t level = found.met[0] != kNoLevel ? found.met[0] : found.nearest[0];
    if (level != kNoLevel) thresholds.push_back(pool.scores[level]);
  }
  return thresholds;
}

std::vector<ChosenThreshold> ChooseThresholds(const ScoreLevels& pool, const CorpusLevels& corpus,
                                              std::span<const Target> targets,
                                              const BootstrapOptions& options) {
  BootstrapOptions bootstrap = options;
  bootstrap.resamples = Repetitions(options.resamples, pool.counts.size());
  std::vector<ChosenThreshold> chosen;
  for (const Target& target : targets) chosen.push_back(Choose(pool, corpus, target, bootstrap));
  return chosen;
}

}  // namespace tandem::eval
