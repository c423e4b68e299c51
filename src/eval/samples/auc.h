// The area under the ROC curve of scores, pooled over queries or query by query: how well one
// threshold separates positives from the best-scoring other documents.
//
// It is computed from samples of scores, which a run and a model can both give. Nobody needs the
// scores of all queries and documents:
//
//   std::vector<QuerySamples> samples;           // one per judged query
//   samples.push_back({.query = id,
//                      .positives = scores of all judged positives,
//                      .negatives = scores of the kNegativesPerQuery best other documents});
//   std::optional<double> auc = PooledAuc(samples);
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "eval/ranking.h"

namespace tandem::eval {

// Says how many of a query's best-scoring documents that are no positives are its negative samples
// (MW paper §5.1).
inline constexpr size_t kNegativesPerQuery = 500;

struct QuerySamples {
  std::string_view query;
  std::vector<double> positives;  // scores, in any order
  size_t missing_positives = 0;   // without a score: they count below every score
  std::vector<double> negatives;  // at most kNegativesPerQuery, in any order
};

// Throws NumericError for a score that is NaN.
void RefuseNan(std::span<const double> scores);

// P(s+ > s-) + 1/2 P(s+ = s-) over all pairs of a positive and a negative of any query. It has no
// value where there is no pair. O((P + N) log (P + N)); exact: pairs are counted in integers.
// Throws NumericError for a score that is NaN.
std::optional<double> PooledAuc(std::span<const QuerySamples> samples);

// The AUC within one query.
std::optional<double> QueryAuc(const QuerySamples& samples);

// The samples that a ranking holds. A positive that the ranking lacks is missing; documents that
// are no positives, judged or not, are negatives.
QuerySamples SamplesOf(std::string_view query, const JudgedRanking& ranking);

// The `depth` best samples of each query, which is what a reader sees who looks at so many
// documents; where scores tie, negatives come first, since samples do not say which document a
// score is of. Positives that are left out so are not missing: missing_positives stays.
std::vector<QuerySamples> BestSamples(std::span<const QuerySamples> samples, size_t depth);

// Counts by which a reader can judge an AUC.
struct SampleCounts {
  size_t missing_positives = 0;
  size_t queries_short_of_negatives = 0;  // fewer than kNegativesPerQuery
  size_t queries_without_auc = 0;         // no positive or no negative: not in auc_per_query
};
SampleCounts CountSamples(std::span<const QuerySamples> samples);

}  // namespace tandem::eval
