// A query's results in rank order with their grades: all that a measure sees.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "data/judgements/qrels.h"
#include "data/judgements/run.h"

namespace tandem::eval {

// The grade of a retrieved document that nobody judged, or whose judgement is negative ("in the
// pool, not judged", as trec_eval reads it).
inline constexpr double kNotJudged = -1;

// trec_eval 10 compares scores in double precision. trec_eval 9 keeps them in single precision, so
// that scores which differ in the eighth digit tie; so do pytrec_eval and what is built on it.
enum class ScorePrecision { kSingle, kDouble };

struct RankingOptions {
  double relevance_level = 1;  // a judged document is a positive from this grade on (-l)
  size_t max_results = 0;      // only that many of a query's best results count (-M); 0: all
  ScorePrecision score_precision = ScorePrecision::kDouble;
};

struct RankedDocument {
  std::string_view document;
  double score = 0;  // in the precision of the options
  double grade = kNotJudged;
};

struct JudgedRanking {
  std::vector<RankedDocument> results;  // by score, ties by document id, both descending
  std::vector<double> judged_grades;    // of every judged document from grade 0 on, descending
  double relevance_level = 1;
  // Judged documents, retrieved or not: grade >= relevance_level, and 0 <= grade < relevance_level.
  size_t positive_count = 0;
  size_t negative_count = 0;

  bool IsPositive(size_t rank) const { return results[rank].grade >= relevance_level; }
  // Positives among the first `depth` results.
  size_t PositivesWithin(size_t depth) const;
  // Makes positives of another grade on. The level must be above 0.
  void SetRelevanceLevel(double level);
};

// Sorts the results and looks up the grade of each. Ids are compared as bytes. The ranking holds
// views into the results, which must outlive it. Throws NumericError for a score that is not
// finite.
JudgedRanking RankAndJudge(std::span<const data::ScoredDocument> results,
                           std::span<const data::GradedDocument> judgements,
                           const RankingOptions& options);

}  // namespace tandem::eval
