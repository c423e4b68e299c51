#include "eval/samples/auc.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/error.h"

namespace tandem::eval {
namespace {

// Twice the number of pairs in which the positive has the higher score; a tie counts half. Both
// arrays are sorted.
uint64_t DoubledWins(const std::vector<double>& positives, const std::vector<double>& negatives) {
  uint64_t doubled = 0;
  size_t below = 0;      // negatives below the positive
  size_t not_above = 0;  // negatives not above it
  for (double positive : positives) {
    while (below < negatives.size() && negatives[below] < positive) ++below;
    while (not_above < negatives.size() && negatives[not_above] <= positive) ++not_above;
    doubled += below + not_above;
  }
  return doubled;
}

// Its arguments are copies, which it sorts.
std::optional<double> Auc(std::vector<double> positives, size_t missing,
                          std::vector<double> negatives) {
  RefuseNan(positives);
  RefuseNan(negatives);
  const size_t positive_count = positives.size() + missing;
  if (positive_count == 0 || negatives.empty()) return std::nullopt;
  std::sort(positives.begin(), positives.end());
  std::sort(negatives.begin(), negatives.end());
  const auto pairs = static_cast<double>(positive_count) * static_cast<double>(negatives.size());
  return static_cast<double>(DoubledWins(positives, negatives)) / (2 * pairs);
}

}  // namespace

void RefuseNan(std::span<const double> scores) {
  if (std::any_of(scores.begin(), scores.end(), [](double score) { return std::isnan(score); })) {
    throw NumericError("a score of the samples is not a number");
  }
}

std::optional<double> PooledAuc(std::span<const QuerySamples> samples) {
  std::vector<double> positives;
  std::vector<double> negatives;
  size_t missing = 0;
  for (const QuerySamples& query : samples) {
    positives.insert(positives.end(), query.positives.begin(), query.positives.end());
    negatives.insert(negatives.end(), query.negatives.begin(), query.negatives.end());
    missing += query.missing_positives;
  }
  return Auc(std::move(positives), missing, std::move(negatives));
}

std::optional<double> QueryAuc(const QuerySamples& samples) {
  return Auc(samples.positives, samples.missing_positives, samples.negatives);
}

QuerySamples SamplesOf(std::string_view query, const JudgedRanking& ranking) {
  QuerySamples samples;
  samples.query = query;
  for (size_t rank = 0; rank < ranking.results.size(); ++rank) {
    const double score = ranking.results[rank].score;
    if (ranking.IsPositive(rank)) {
      samples.positives.push_back(score);
    } else if (samples.negatives.size() < kNegativesPerQuery) {
      samples.negatives.push_back(score);
    }
  }
  samples.missing_positives = ranking.positive_count - samples.positives.size();
  return samples;
}

std::vector<QuerySamples> BestSamples(std::span<const QuerySamples> samples, size_t depth) {
  std::vector<QuerySamples> best;
  for (const QuerySamples& of_query : samples) {
    std::vector<std::pair<double, bool>> all;  // score, whether of a positive
    for (const double score : of_query.positives) all.emplace_back(score, true);
    for (const double score : of_query.negatives) all.emplace_back(score, false);
    const size_t count = std::min(depth, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                      [](const auto& a, const auto& b) {
                        return a.first != b.first ? a.first > b.first : a.second < b.second;
                      });
    QuerySamples& kept = best.emplace_back();
    kept.query = of_query.query;
    kept.missing_positives = of_query.missing_positives;
    for (size_t i = 0; i < count; ++i) {
      (all[i].second ? kept.positives : kept.negatives).push_back(all[i].first);
    }
  }
  return best;
}

SampleCounts CountSamples(std::span<const QuerySamples> samples) {
  SampleCounts counts;
  for (const QuerySamples& query : samples) {
    counts.missing_positives += query.missing_positives;
    counts.queries_short_of_negatives += query.negatives.size() < kNegativesPerQuery;
    counts.queries_without_auc +=
        query.negatives.empty() || query.positives.size() + query.missing_positives == 0;
  }
  return counts;
}

}  // namespace tandem::eval
