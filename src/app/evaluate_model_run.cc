// The work of `tandem evaluate --model`: retrieve with the model, then evaluate as any run.
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/evaluate_command.h"
#include "app/evaluation_output.h"
#include "app/judged_data.h"
#include "app/load_model.h"
#include "base/error.h"
#include "eval/evaluate.h"
#include "search/retrieve.h"

namespace tandem::app {
namespace {

// Results of a query that are ranked where --max-results does not say: trec_eval's usual depth,
// more where a measure looks further.
constexpr size_t kDepth = 1000;

size_t DepthFor(const EvaluateOptions& options, const std::vector<eval::Measure>& measures,
                size_t documents) {
  if (options.max_results) return *options.max_results == 0 ? documents : *options.max_results;
  size_t depth = kDepth;
  for (const eval::Measure& measure : measures) {
    if (measure.cut_off != eval::kAllResults) depth = std::max(depth, measure.cut_off);
  }
  return depth;
}

bool NeedsSamples(const std::vector<eval::Measure>& measures) {
  return std::any_of(measures.begin(), measures.end(), [](const eval::Measure& measure) {
    return measure.info->kind != eval::MeasureKind::kRanking;
  });
}

// Positives that the corpus lacks have no score, and a query without text has none at all: an AUC
// counts them below every score, as it does where a run lacks them. Samples are views into `data`.
void CountMissingPositives(const JudgedData& data, double relevance_level,
                           std::vector<eval::QuerySamples>& samples) {
  std::unordered_map<std::string_view, size_t> positives;  // by query
  for (const data::QueryJudgements& query : data.qrels.queries()) {
    positives[query.query] = static_cast<size_t>(
        std::count_if(query.judgements.begin(), query.judgements.end(),
                      [&](const auto& judged) { return judged.grade >= relevance_level; }));
  }
  for (eval::QuerySamples& of_query : samples) {
    const auto all = positives.extract(of_query.query);
    of_query.missing_positives = all.mapped() - of_query.positives.size();
  }
  for (const auto& [query, all] : positives) {
    samples.push_back({.query = query, .missing_positives = all});
  }
}

}  // namespace

void RunEvaluateModel(const EvaluateOptions& options) {
  const std::vector<eval::Measure> measures = eval::ParseMeasures(options.measures);
  const auto model = LoadModel(options.model);
  const JudgedData judged = LoadJudgedData(options.dataset, options.split);
  const data::Dataset& dataset = judged.dataset;
  if (dataset.documents.size() < 2) {
    throw DataError(options.dataset, 0, "",
                    "the corpus has one document, so that every ranking of it is the same; "
                    "an evaluation needs at least two");
  }
  search::Retrieved retrieved =
      search::Retrieve(*model, dataset,
                       {.top_k = DepthFor(options, measures, dataset.documents.size()),
                        .relevance_level = NeedsSamples(measures) ? options.relevance_level : 0,
                        .encode = BulkOptions(),
                        .embeddings = options.embeddings});
  if (NeedsSamples(measures)) {
    CountMissingPositives(judged, options.relevance_level, retrieved.samples);
  }
  eval::EvaluationOptions evaluation{
      .complete = true, .threads = BulkOptions().threads, .samples = retrieved.samples};
  evaluation.ranking = {.relevance_level = options.relevance_level,
                        .max_results = options.max_results.value_or(0),
                        .score_precision = options.score_precision == "double"
                                               ? eval::ScorePrecision::kDouble
                                               : eval::ScorePrecision::kSingle};
  PrintEvaluation(eval::EvaluateRun(retrieved.run, judged.qrels, measures, evaluation), evaluation,
                  options.format, options.per_query);
}

}  // namespace tandem::app
