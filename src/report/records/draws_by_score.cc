#include "report/records/draws_by_score.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sampling/audit/audit_file.h"

namespace tandem::report {
namespace {

constexpr size_t kMostBins = 10;

std::vector<double> MeansOfQueries(std::span<const float> scores,
                                   std::span<const uint32_t> pair_counts) {
  std::vector<double> means;
  size_t pair = 0;
  for (const uint32_t count : pair_counts) {
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum += scores[pair++];
    means.push_back(count == 0 ? 0 : sum / count);
  }
  return means;
}

}  // namespace

void DrawsByScoreReader::MakeBins(std::span<const uint32_t> pair_counts) {
  const std::vector<double> means = MeansOfQueries(scores_, pair_counts);
  std::vector<size_t> order(means.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return means[a] < means[b]; });
  bin_of_.resize(means.size());
  size_t planned = 0;  // the bin that even parts would give
  for (size_t i = 0; i < order.size(); ++i) {
    const double score = means[order[i]];
    const size_t part = i * kMostBins / order.size();
    const bool begins = draws_.bins.empty() || (part > planned && score > draws_.bins.back().high);
    if (begins) {
      planned = part;
      draws_.bins.push_back({.low = score, .high = score});
    }
    draws_.bins.back().high = score;
    ++draws_.bins.back().queries;
    bin_of_[order[i]] = static_cast<uint8_t>(draws_.bins.size() - 1);
  }
}

void DrawsByScoreReader::Add(const sampling::PassRecord& record) {
  if (record.probabilities.size() != scores_.size() || scores_.empty()) return;
  const uint64_t pairs =
      std::accumulate(record.pair_counts.begin(), record.pair_counts.end(), uint64_t{0});
  if (pairs != scores_.size()) return;
  if (bin_of_.empty()) MakeBins(record.pair_counts);
  if (bin_of_.size() != record.pair_counts.size()) return;
  std::vector<double> sums(draws_.bins.size());
  size_t pair = 0;
  for (size_t query = 0; query < bin_of_.size(); ++query) {
    for (uint32_t i = 0; i < record.pair_counts[query]; ++i) {
      sums[bin_of_[query]] += record.probabilities[pair++];
    }
  }
  for (size_t bin = 0; bin < sums.size(); ++bin) {
    sums[bin] /= static_cast<double>(draws_.bins[bin].queries);
  }
  draws_.passes.push_back(static_cast<int64_t>(record.pass));
  draws_.expected.push_back(std::move(sums));
}

std::optional<DrawsByScore> DrawsByScoreReader::Take() {
  if (draws_.passes.empty()) return std::nullopt;
  return std::move(draws_);
}

}  // namespace tandem::report
