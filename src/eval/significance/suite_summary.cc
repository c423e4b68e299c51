#include "eval/significance/suite_summary.h"

#include <algorithm>
#include <cstddef>

namespace tandem::eval {

std::vector<std::optional<double>> RanksOf(std::span<const std::optional<double>> values) {
  std::vector<size_t> order;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&values](size_t a, size_t b) { return *values[a] > *values[b]; });
  std::vector<std::optional<double>> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && *values[order[end]] == *values[order[first]]) ++end;
    const double shared = static_cast<double>(first + 1 + end) / 2;  // mean of first + 1 .. end
    for (size_t i = first; i < end; ++i) ranks[order[i]] = shared;
    first = end;
  }
  return ranks;
}

namespace {

// The mean of column `model`, or none where a row lacks it.
std::optional<double> MeanOf(std::span<const std::vector<std::optional<double>>> rows,
                             size_t model) {
  double sum = 0;
  for (const std::vector<std::optional<double>>& row : rows) {
    if (!row[model]) return std::nullopt;
    sum += *row[model];
  }
  return rows.empty() ? std::nullopt : std::optional(sum / static_cast<double>(rows.size()));
}

}  // namespace

SuiteSummary SummarizeSuite(std::span<const std::vector<std::optional<double>>> by_set) {
  std::vector<std::vector<std::optional<double>>> ranks;
  for (const auto& values : by_set) ranks.push_back(RanksOf(values));
  SuiteSummary summary;
  const size_t models = by_set.empty() ? 0 : by_set.front().size();
  for (size_t model = 0; model < models; ++model) {
    summary.means.push_back(MeanOf(by_set, model));
    summary.average_ranks.push_back(MeanOf(ranks, model));
  }
  return summary;
}

}  // namespace tandem::eval
