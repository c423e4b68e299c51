#include "eval/samples/applied_thresholds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/process/threads.h"
#include "eval/samples/corpus_levels.h"
#include "eval/samples/roc.h"

namespace tandem::eval {
namespace {

struct ShownRates {
  double precision, recall, results;
};

// Rates of weighted queries; NaN where there is nothing to divide by.
template <typename WeightOf>
ShownRates RatesOfShown(std::span<const QueryShown> queries, WeightOf weight_of) {
  double found = 0, positives = 0, shown = 0, count = 0;
  for (size_t q = 0; q < queries.size(); ++q) {
    const auto weight = static_cast<double>(weight_of(q));
    found += weight * static_cast<double>(queries[q].found);
    positives += weight * static_cast<double>(queries[q].positives);
    shown += weight * static_cast<double>(queries[q].shown.value_or(0));
    count += weight;
  }
  const auto share = [](double part, double whole) {
    return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
  };
  return {share(found, shown), share(found, positives), share(shown, count)};
}

// The chance of `least` successes or more in a number of trials.
class UpperTail {
 public:
  UpperTail(size_t least, size_t trials)
      : least_(static_cast<double>(least)), trials_(static_cast<double>(trials)) {
    for (double k = least_; k <= trials_; ++k) {
      logs_.push_back(std::lgamma(trials_ + 1) - std::lgamma(k + 1) - std::lgamma(trials_ - k + 1));
    }
  }

  // Of a probability in (0, 1).
  double At(double p) const {
    const double log_success = std::log(p), log_failure = std::log1p(-p);
    double sum = 0, k = least_;
    for (const double log : logs_) {
      sum += std::exp(log + k * log_success + (trials_ - k) * log_failure);
      ++k;
    }
    return sum;
  }

  // The p at which At(p), which rises with p, is `chance`.
  double ProbabilityOf(double chance) const {
    double low = 0, high = 1;
    for (int halving = 0; halving < 60; ++halving) {  // to the last bits of a double
      const double middle = (low + high) / 2;
      (At(middle) < chance ? low : high) = middle;
    }
    return (low + high) / 2;
  }

 private:
  double least_, trials_;
  std::vector<double> logs_;  // of the binomial coefficients, for least_, least_ + 1, ... successes
};

void AddIntervals(std::span<const QueryShown> queries, const BootstrapOptions& options,
                  AppliedThreshold& applied) {
  const size_t resamples = Repetitions(options.resamples, queries.size());
  std::vector<double> precision(resamples), recall(resamples), results(resamples);
  ParallelFor(resamples, 64, options.threads, [&](size_t begin, size_t end) {
    std::vector<uint32_t> drawn(queries.size());
    for (size_t r = begin; r < end; ++r) {
      DrawCounts(options.seed, r, drawn);
      const ShownRates rates = RatesOfShown(queries, [&](size_t q) { return drawn[q]; });
      precision[r] = rates.precision;
      recall[r] = rates.recall;
      results[r] = rates.results;
    }
  });
  if (applied.precision) {
    applied.precision_interval = IntervalOfValues(precision, options.confidence);
  }
  if (applied.recall) applied.recall_interval = IntervalOfValues(recall, options.confidence);
  if (applied.results) applied.results_interval = IntervalOfValues(results, options.confidence);
}

}  // namespace

AppliedThreshold ApplyThreshold(double threshold, std::span<const QueryShown> queries,
                                const BootstrapOptions& options) {
  AppliedThreshold applied{.threshold = threshold, .queries = queries.size(), .shown = 0};
  for (const QueryShown& query : queries) {
    applied.found += query.found;
    applied.queries_with_nothing += query.nothing;
    if (applied.shown && query.shown) {
      *applied.shown += *query.shown;
    } else {
      applied.shown.reset();
    }
  }
  const auto value = [](double rate) {
    return std::isnan(rate) ? std::nullopt : std::optional<double>(rate);
  };
  const ShownRates rates = RatesOfShown(queries, [](size_t) { return 1; });
  applied.recall = value(rates.recall);
  if (applied.shown) {
    applied.precision = value(rates.precision);
    applied.results = value(rates.results);
  }
  applied.nothing = static_cast<double>(applied.queries_with_nothing) /
                    static_cast<double>(std::max<size_t>(1, queries.size()));
  applied.nothing_interval =
      BinomialInterval(applied.queries_with_nothing, queries.size(), options.confidence);
  AddIntervals(queries, options, applied);
  return applied;
}

std::vector<QueryShown> ShownByRun(const RunSamples& all, double threshold) {
  std::vector<QueryShown> queries;
  for (size_t q = 0; q < all.samples.size(); ++q) {
    const QuerySamples& samples = all.samples[q];
    const auto reached = [threshold](const std::vector<double>& scores) {
      return static_cast<uint64_t>(std::count_if(scores.begin(), scores.end(),
                                                 [&](double score) { return score >= threshold; }));
    };
    QueryShown query{.positives = samples.positives.size() + samples.missing_positives,
                     .found = reached(samples.positives)};
    const uint64_t shown = query.found + reached(samples.negatives);
    query.nothing = shown == 0;
    // At the score of the last result itself others may be missing.
    if (threshold > all.floors[q]) query.shown = shown;
    queries.push_back(query);
  }
  return queries;
}

Interval BinomialInterval(size_t successes, size_t trials, double confidence) {
  const double tail = (1 - confidence) / 2;
  Interval interval{.low = 0, .high = 1};
  if (successes > 0) interval.low = UpperTail(successes, trials).ProbabilityOf(tail);
  if (successes < trials) interval.high = UpperTail(successes + 1, trials).ProbabilityOf(1 - tail);
  return interval;
}

}  // namespace tandem::eval
