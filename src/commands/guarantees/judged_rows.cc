#include "commands/guarantees/judged_rows.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tandem::app {
namespace {

using Grades = std::unordered_map<std::string_view, double>;

Grades GradesOf(const data::QueryJudgements* judged) {
  Grades grades;
  if (judged == nullptr) return grades;
  for (const data::GradedDocument& one : judged->judgements) grades[one.document] = one.grade;
  return grades;
}

// Adds the documents of a query's results that are no positives.
void AddOthers(const data::QueryResults& results, const Grades& grades,
               const JudgedRowOptions& options, eval::GuaranteeRow* row, JudgedRows* all) {
  double best_other = -std::numeric_limits<double>::infinity(), lowest = -best_other;
  for (const data::ScoredDocument& one : results.results) {
    lowest = std::min(lowest, one.score);
    const auto judged = grades.find(one.document);
    const bool known = judged != grades.end() && judged->second >= 0;
    if (judged != grades.end() && judged->second >= options.relevance_level) continue;
    best_other = std::max(best_other, one.score);
    row->documents.push_back({.score = one.score, .positive = false, .judged = known});
  }
  const bool ends = results.results.size() >= options.top_k && options.top_k < options.corpus;
  if (ends) row->known_above = lowest;
  if (best_other != -std::numeric_limits<double>::infinity()) {
    all->best_without_answer.push_back(best_other);
  }
}

void CountRow(const eval::GuaranteeRow& row, JudgedRows* all) {
  for (const eval::LabelledDocument& one : row.documents) {
    ++all->documents;
    all->unjudged += one.judged ? 0 : 1;
    all->judged_negatives += one.judged && !one.positive ? 1 : 0;
  }
}

}  // namespace

JudgedRows MakeJudgedRows(const search::Retrieved& retrieved, const data::Qrels& qrels,
                          const JudgedRowOptions& options) {
  JudgedRows all;
  for (const eval::QuerySamples& samples : retrieved.samples) {
    const data::QueryResults* results = retrieved.run.Find(samples.query);
    if (results == nullptr || results->results.empty()) continue;  // it has no text
    eval::GuaranteeRow row{.query = samples.query,
                           .positives = samples.positives.size() + samples.missing_positives};
    for (const double score : samples.positives) row.documents.push_back({score, true});
    AddOthers(*results, GradesOf(qrels.Find(samples.query)), options, &row, &all);
    const auto best =
        std::max_element(results->results.begin(), results->results.end(),
                         [](const auto& a, const auto& b) { return a.score < b.score; });
    all.best_scores.push_back(static_cast<float>(best->score));
    eval::SortRow(options.depth, &row);
    CountRow(row, &all);
    all.rows.push_back(std::move(row));
  }
  return all;
}

}  // namespace tandem::app
