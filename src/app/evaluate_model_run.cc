// The work of `tandem evaluate --model`: retrieve with the model, then evaluate as any run.
#include <algorithm>
#include <iostream>
#include <vector>

#include "app/evaluate_command.h"
#include "app/evaluation_output.h"
#include "app/load_model.h"
#include "app/model_thresholds.h"
#include "app/output_style.h"
#include "base/error.h"
#include "data/judged_data.h"
#include "eval/evaluate.h"
#include "search/retrieve.h"
#include "search/score_samples.h"

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

}  // namespace

void RunEvaluateModel(const EvaluateOptions& options) {
  const std::vector<eval::Measure> measures = eval::ParseMeasures(options.measures);
  const auto model = LoadModel(options.model);
  const data::JudgedData judged = data::LoadJudgedData(options.dataset, options.split);
  const data::Dataset& dataset = judged.dataset;
  if (dataset.documents.size() < 2) {
    throw DataError(options.dataset, 0, "",
                    "the corpus has one document, so that every ranking of it is the same; "
                    "an evaluation needs at least two");
  }
  const bool samples = NeedsSamples(measures) || !options.thresholds.empty();
  search::SearchedRows rows;
  search::Retrieved retrieved =
      search::Retrieve(*model, dataset,
                       {.top_k = DepthFor(options, measures, dataset.documents.size()),
                        .relevance_level = samples ? options.relevance_level : 0,
                        .encode = BulkOptions(),
                        .embeddings = options.embeddings,
                        .keep = options.thresholds.empty() ? nullptr : &rows});
  if (samples) {
    search::CountMissingPositives(judged.qrels, options.relevance_level, retrieved.samples);
  }
  eval::EvaluationOptions evaluation{
      .complete = true, .threads = BulkOptions().threads, .samples = retrieved.samples};
  evaluation.ranking = {.relevance_level = options.relevance_level,
                        .max_results = options.max_results.value_or(0),
                        .score_precision = options.score_precision == "double"
                                               ? eval::ScorePrecision::kDouble
                                               : eval::ScorePrecision::kSingle};
  const eval::Evaluation found =
      eval::EvaluateRun(retrieved.run, judged.qrels, measures, evaluation);
  PrintRemarks(found, evaluation);
  const std::string text =
      FormatEvaluation(found, options.format, OutputStyle(), options.per_query);
  if (options.thresholds.empty()) {
    std::cout << text;
  } else {
    PrintWithThresholds(
        text, ThresholdsOfModel(retrieved.samples, rows, eval::ParseWishes(options.thresholds)),
        options.format);
  }
}

}  // namespace tandem::app
