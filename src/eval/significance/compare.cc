#include "eval/significance/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/error.h"
#include "eval/samples/roc.h"
#include "eval/samples/run_samples.h"
#include "eval/significance/seeds.h"
#include "eval/significance/significance.h"
#include "eval/significance/swap_test.h"

namespace tandem::eval {
namespace {

double MeanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void FindCommonQueries(std::span<const System> systems, Comparison& comparison) {
  comparison.queries = systems[0].evaluation.queries;
  for (const System& system : systems.subspan(1)) {
    std::vector<std::string> both;
    std::set_intersection(comparison.queries.begin(), comparison.queries.end(),
                          system.evaluation.queries.begin(), system.evaluation.queries.end(),
                          std::back_inserter(both));
    comparison.queries = std::move(both);
  }
  for (const System& system : systems) {
    comparison.left_out.push_back(system.evaluation.queries.size() - comparison.queries.size());
  }
  if (comparison.queries.empty()) {
    throw DataError("compare", 0, "",
                    "no judged query is in all runs, so that there is nothing to compare");
  }
}

// The values of the common queries; a query may have none.
std::vector<std::optional<double>> ValuesOf(const Evaluation& evaluation, size_t measure,
                                            std::span<const std::string> queries) {
  std::vector<std::optional<double>> values;
  size_t at = 0;
  for (const std::string& query : queries) {
    while (evaluation.queries[at] != query) ++at;
    values.push_back(evaluation.measures[measure].per_query[at]);
  }
  return values;
}

// Values of the queries that have one in both systems.
struct PairedValues {
  std::vector<double> baseline, values, differences;
};

PairedValues PairsOf(const System& baseline, const System& system, size_t measure,
                     std::span<const std::string> queries) {
  const auto of_baseline = ValuesOf(baseline.evaluation, measure, queries);
  const auto of_system = ValuesOf(system.evaluation, measure, queries);
  PairedValues pairs;
  for (size_t q = 0; q < queries.size(); ++q) {
    if (!of_baseline[q] || !of_system[q]) continue;
    pairs.baseline.push_back(*of_baseline[q]);
    pairs.values.push_back(*of_system[q]);
    pairs.differences.push_back(*of_system[q] - *of_baseline[q]);
  }
  return pairs;
}

[[noreturn]] void ThrowNoValue(std::string_view measure, std::string_view system) {
  throw DataError(
      system, 0, "",
      fmt::format("{} has no value on the queries that are compared: it needs a positive "
                  "and another document with a score",
                  measure));
}

// The values of the queries that count, under each seed of a system; of a single one its own.
std::vector<std::vector<double>> ValuesBySeed(const System& system, const System& other,
                                              size_t measure,
                                              std::span<const std::string> queries) {
  const std::span<const Evaluation> own(&system.evaluation, 1);
  const std::span<const Evaluation> seeds = system.seeds.empty() ? own : system.seeds;
  const auto mine = ValuesOf(system.evaluation, measure, queries);
  const auto theirs = ValuesOf(other.evaluation, measure, queries);
  std::vector<std::vector<double>> by_seed;
  for (const Evaluation& seed : seeds) {
    const auto values = ValuesOf(seed, measure, queries);
    std::vector<double>& kept = by_seed.emplace_back();
    for (size_t q = 0; q < queries.size(); ++q) {
      if (mine[q] && theirs[q]) kept.push_back(*values[q]);
    }
  }
  return by_seed;
}

MeasureDifference CompareMeans(const System& baseline, const System& system, size_t measure,
                               const Comparison& comparison, const CompareOptions& options) {
  MeasureDifference result;
  result.measure = baseline.evaluation.measures[measure].measure.name();
  const PairedValues pairs = PairsOf(baseline, system, measure, comparison.queries);
  if (pairs.differences.empty()) ThrowNoValue(result.measure, system.name);
  result.queries = pairs.differences.size();
  result.baseline = MeanOf(pairs.baseline);
  result.mean = MeanOf(pairs.values);
  result.difference = MeanOf(pairs.differences);
  const TestResult test = SignFlipTest(
      pairs.differences,
      {.seed = options.seed, .permutations = options.permutations, .threads = options.threads});
  result.p_value = test.p_value;
  result.permutations = test.permutations;
  result.exact = test.exact;
  result.effect_size = CohensDz(pairs.differences);
  result.resamples = options.resamples;
  result.interval = PercentileInterval(
      ResampledMeans(
          pairs.differences,
          {.seed = options.seed, .resamples = options.resamples, .threads = options.threads}),
      options.confidence);
  result.over_seeds = !baseline.seeds.empty() || !system.seeds.empty();
  if (result.over_seeds) {
    result.interval = IntervalOverSeeds(ValuesBySeed(baseline, system, measure, comparison.queries),
                                        ValuesBySeed(system, baseline, measure, comparison.queries),
                                        {.seed = options.seed,
                                         .resamples = options.resamples,
                                         .confidence = options.confidence,
                                         .threads = options.threads});
  }
  return result;
}

// One of the figures of pooled samples, by the measure that it is the value of.
struct PooledFigure {
  std::string_view measure;
  std::optional<double> PoolFigures::*value;
  std::vector<double> ResampledFigures::*resampled;
  TestResult SwapResult::*test;
};
constexpr PooledFigure kPooledFigures[] = {
    {"auc", &PoolFigures::auc, &ResampledFigures::auc, &SwapResult::auc},
    {"partial_auc", &PoolFigures::partial_auc, &ResampledFigures::partial_auc,
     &SwapResult::partial_auc},
    {"pool_ap", &PoolFigures::average_precision, &ResampledFigures::average_precision,
     &SwapResult::average_precision}};

const PooledFigure& FigureNamed(std::string_view measure) {
  const auto* const found =
      std::find_if(std::begin(kPooledFigures), std::end(kPooledFigures),
                   [measure](const PooledFigure& figure) { return figure.measure == measure; });
  if (found == std::end(kPooledFigures)) {
    throw std::logic_error(fmt::format("pooled measure {} cannot be compared", measure));
  }
  return *found;
}

// The figures of a system's common queries, and of every resample of them.
struct PooledSystem {
  std::vector<QuerySamples> samples;
  PoolFigures figures;
  ResampledFigures resampled;
};

PooledSystem PoolOf(const System& system, const Comparison& comparison,
                    const CompareOptions& options, size_t resamples) {
  PooledSystem pooled;
  pooled.samples = SamplesInOrder(system.samples, comparison.queries);
  const ScoreLevels levels = PoolLevels(pooled.samples);
  pooled.figures = FiguresOf(levels);
  pooled.resampled = ResampleFigures(
      levels, {.seed = options.seed, .resamples = resamples, .threads = options.threads});
  return pooled;
}

size_t SampleCount(std::span<const QuerySamples> samples) {
  size_t count = 0;
  for (const QuerySamples& query : samples)
    count += query.positives.size() + query.negatives.size();
  return count;
}

// The data that all pooled measures of two systems need, computed once.
class PooledComparison {
 public:
  PooledComparison(const Comparison& comparison, const CompareOptions& options)
      : comparison_(comparison), options_(options) {}

  MeasureDifference Of(const System& baseline, const System& system, std::string_view measure) {
    if (&system != system_) Prepare(baseline, system);
    const PooledFigure& figure = FigureNamed(measure);
    const std::optional<double> before = baseline_.figures.*figure.value;
    const std::optional<double> after = compared_.figures.*figure.value;
    if (!before) ThrowNoValue(measure, baseline.name);
    if (!after) ThrowNoValue(measure, system.name);
    const TestResult test = swaps_.*figure.test;
    const std::vector<double>& old_values = baseline_.resampled.*figure.resampled;
    std::vector<double> differences = compared_.resampled.*figure.resampled;
    for (size_t r = 0; r < differences.size(); ++r) differences[r] -= old_values[r];
    const Interval all_same{*after - *before, *after - *before};
    return {.measure = std::string(measure),
            .queries = comparison_.queries.size(),
            .baseline = *before,
            .mean = *after,
            .difference = *after - *before,
            .interval = IntervalOfValues(differences, options_.confidence).value_or(all_same),
            .resamples = differences.size(),
            .p_value = test.p_value,
            .permutations = test.permutations,
            .exact = test.exact};
  }

 private:
  void Prepare(const System& baseline, const System& system) {
    const size_t samples = std::max(SampleCount(baseline.samples), SampleCount(system.samples));
    const size_t resamples = Repetitions(options_.resamples, samples);
    if (baseline_.samples.empty() || baseline_.resampled.auc.size() != resamples) {
      baseline_ = PoolOf(baseline, comparison_, options_, resamples);
    }
    compared_ = PoolOf(system, comparison_, options_, resamples);
    swaps_ = SwapTest(baseline_.samples, compared_.samples,
                      {.seed = options_.seed,
                       .permutations = options_.permutations,
                       .threads = options_.threads});
    system_ = &system;
  }

  const Comparison& comparison_;
  const CompareOptions& options_;
  const System* system_ = nullptr;
  PooledSystem baseline_, compared_;
  SwapResult swaps_;
};

void AdjustOverSystems(Comparison& comparison) {
  for (size_t m = 0; m < comparison.systems.front().measures.size(); ++m) {
    std::vector<double> p_values;
    for (const SystemComparison& system : comparison.systems) {
      p_values.push_back(system.measures[m].p_value);
    }
    const std::vector<double> adjusted = HolmAdjusted(p_values);
    for (size_t s = 0; s < adjusted.size(); ++s) {
      comparison.systems[s].measures[m].holm_p = adjusted[s];
    }
  }
}

}  // namespace

Comparison Compare(std::span<const System> systems, const CompareOptions& options) {
  if (systems.size() < 2) throw std::logic_error("a comparison needs two systems");
  Comparison comparison;
  comparison.baseline = systems[0].name;
  FindCommonQueries(systems, comparison);
  PooledComparison pooled(comparison, options);
  for (const System& system : systems.subspan(1)) {
    SystemComparison of_system{.name = system.name};
    for (size_t m = 0; m < system.evaluation.measures.size(); ++m) {
      const Measure& measure = system.evaluation.measures[m].measure;
      of_system.measures.push_back(measure.info->kind == MeasureKind::kSamplesPooled
                                       ? pooled.Of(systems[0], system, measure.name())
                                       : CompareMeans(systems[0], system, m, comparison, options));
    }
    comparison.systems.push_back(std::move(of_system));
  }
  AdjustOverSystems(comparison);
  return comparison;
}

Extremes ExtremesOf(const Comparison& comparison, const System& baseline, const System& system,
                    size_t measure, size_t most) {
  if (baseline.evaluation.measures[measure].per_query.empty()) return {};
  const auto before = ValuesOf(baseline.evaluation, measure, comparison.queries);
  const auto after = ValuesOf(system.evaluation, measure, comparison.queries);
  Extremes extremes;
  for (size_t q = 0; q < comparison.queries.size(); ++q) {
    if (!before[q] || !after[q] || *before[q] == *after[q]) continue;
    auto& side = *after[q] > *before[q] ? extremes.gained : extremes.lost;
    side.push_back({comparison.queries[q], *before[q], *after[q]});
  }
  for (auto* side : {&extremes.gained, &extremes.lost}) {
    std::stable_sort(side->begin(), side->end(), [](const auto& a, const auto& b) {
      return std::abs(a.value - a.baseline) > std::abs(b.value - b.baseline);
    });
    side->resize(std::min(side->size(), most));
  }
  return extremes;
}

}  // namespace tandem::eval
