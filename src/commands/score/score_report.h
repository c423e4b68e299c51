// The report of `tandem score` about the scores that it wrote.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "data/dataset.h"
#include "report/tables/table.h"

namespace tandem::app {

struct ScoreSummary {
  size_t queries = 0;
  size_t pairs = 0;
  std::string scale;  // meaning of a score, for people: "max(0, cosine)"
  double lowest = 0, mean = 0, highest = 0;
  // Figures of documents that were judged above 0, and of the others. If one of the two has no
  // documents, its mean is not shown.
  size_t positives = 0;
  double positive_mean = 0, other_mean = 0;
};

// `scores` [P] must be in the order of JudgedPairsOf(dataset).
ScoreSummary SummarizeScores(const data::Dataset& dataset, std::span<const float> scores,
                             std::string scale);

std::string ScoreText(const ScoreSummary& summary, const report::TextStyle& style);
// Returns the same as one JSON object; a mean of nothing is null.
std::string ScoreJson(const ScoreSummary& summary);

}  // namespace tandem::app
