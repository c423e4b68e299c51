// The work of `tandem evaluate --model`: retrieve with the model, then evaluate as any run.
#include <algorithm>
#include <vector>

#include "app/evaluate_command.h"
#include "app/evaluation_output.h"
#include "app/load_model.h"
#include "base/error.h"
#include "data/beir.h"
#include "eval/evaluate.h"
#include "search/retrieve.h"

namespace tandem::app {
namespace {

// Results per query that are ranked: trec_eval's usual depth, more where a measure looks further.
constexpr size_t kDepth = 1000;

size_t DepthFor(const std::vector<eval::Measure>& measures) {
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
  const data::Dataset dataset = data::LoadBeir(options.dataset, options.split);
  if (dataset.documents.size() < 2) {
    throw DataError(options.dataset, 0, "",
                    "the corpus has one document, so that every ranking of it is the same; "
                    "an evaluation needs at least two");
  }
  const search::Retrieved retrieved =
      search::Retrieve(*model, dataset,
                       {.top_k = DepthFor(measures),
                        .relevance_level = NeedsSamples(measures) ? options.relevance_level : 0,
                        .encode = BulkOptions(),
                        .embeddings = options.embeddings});
  eval::EvaluationOptions evaluation{
      .complete = true, .threads = BulkOptions().threads, .samples = retrieved.samples};
  evaluation.ranking = {.relevance_level = options.relevance_level,
                        .max_results = options.max_results,
                        .score_precision = options.score_precision == "double"
                                               ? eval::ScorePrecision::kDouble
                                               : eval::ScorePrecision::kSingle};
  PrintEvaluation(eval::EvaluateRun(retrieved.run, data::QrelsOf(dataset), measures, evaluation),
                  evaluation, options.format, options.per_query);
}

}  // namespace tandem::app
