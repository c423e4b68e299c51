#include "eval/significance/seeds.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/random.h"

namespace tandem::eval {
namespace {

// The mean of one query under all seeds; none where one of them has none.
std::optional<double> MeanOfQuery(std::span<const Evaluation> seeds, size_t measure, size_t query) {
  double sum = 0;
  for (const Evaluation& seed : seeds) {
    const std::optional<double>& value = seed.measures[measure].per_query[query];
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(seeds.size());
}

// The means of a side in all resamples, over seeds that are drawn anew in each.
std::vector<double> MeansOverDrawnSeeds(std::span<const std::vector<double>> seeds,
                                        std::string_view side, const BootstrapOptions& options) {
  std::vector<std::vector<double>> means;  // [seeds][resamples]
  for (const std::vector<double>& values : seeds) means.push_back(ResampledMeans(values, options));
  const auto n = static_cast<double>(seeds.size());
  const double stretch = seeds.size() > 1 ? std::sqrt(n / (n - 1)) : 0;
  std::vector<double> drawn(options.resamples);
  for (size_t r = 0; r < drawn.size(); ++r) {
    RandomStream random({.seed = options.seed, .purpose = side, .epoch = r});
    double all = 0, chosen = 0;
    for (const std::vector<double>& of_seed : means) {
      all += of_seed[r] / n;
      chosen += means[random.Below(means.size())][r] / n;
    }
    drawn[r] = all + stretch * (chosen - all);
  }
  return drawn;
}

}  // namespace

Evaluation MeanOverSeeds(std::span<const Evaluation> seeds) {
  Evaluation mean = seeds.front();
  for (size_t m = 0; m < mean.measures.size(); ++m) {
    MeasureValues& values = mean.measures[m];
    if (values.per_query.size() != mean.queries.size()) {
      throw UsageError(fmt::format(
          "{} pools the scores of all queries, and has no value of a query that seeds could be "
          "averaged over; give other --measures (auc_per_query), or compare single models",
          values.measure.name()));
    }
    for (size_t q = 0; q < mean.queries.size(); ++q) values.per_query[q] = MeanOfQuery(seeds, m, q);
    values.mean = MeanOf(values.per_query);
  }
  return mean;
}

Interval IntervalOverSeeds(std::span<const std::vector<double>> baseline,
                           std::span<const std::vector<double>> values,
                           const BootstrapOptions& options) {
  const std::vector<double> before = MeansOverDrawnSeeds(baseline, "seeds of a baseline", options);
  std::vector<double> differences = MeansOverDrawnSeeds(values, "seeds of a system", options);
  for (size_t r = 0; r < differences.size(); ++r) differences[r] -= before[r];
  return PercentileInterval(std::move(differences), options.confidence);
}

}  // namespace tandem::eval
