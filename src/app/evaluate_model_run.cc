// The work of `tandem evaluate --model`: retrieve with the model, then evaluate as any run.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "app/evaluate_command.h"
#include "app/evaluation_output.h"
#include "app/globals.h"
#include "app/load_model.h"
#include "app/views_output.h"
#include "base/error.h"
#include "data/judged_data.h"
#include "eval/embedding_views.h"
#include "eval/evaluate.h"
#include "search/retrieve.h"
#include "search/score_samples.h"
#include "search/view_rows.h"

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

FurtherFigures ViewsOf(model::DualEncoder& model, const data::Dataset& dataset,
                       const data::Run& run, const EvaluateOptions& options) {
  const auto seed = static_cast<uint64_t>(GlobalOptions().seed.value_or(1));
  const eval::ViewOptions views{.seed = seed, .threads = Threads()};
  const search::ViewEmbeddings embeddings =
      search::EncodeForViews(model, dataset, run,
                             {.relevance_level = options.relevance_level,
                              .most_queries = views.most_pairs,
                              .seed = seed,
                              .encode = BulkOptions()});
  std::vector<std::string_view> ids;
  for (const uint32_t judged : embeddings.judged) {
    ids.push_back(dataset.queries.id(dataset.judged[judged].query));
  }
  return ViewsFigures(eval::MakeEmbeddingViews(embeddings.rows(), views), ids);
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
  search::Retrieved retrieved =
      search::Retrieve(*model, dataset,
                       {.top_k = DepthFor(options, measures, dataset.documents.size()),
                        .relevance_level = NeedsSamples(measures) ? options.relevance_level : 0,
                        .encode = BulkOptions(),
                        .embeddings = options.embeddings});
  if (NeedsSamples(measures)) {
    search::CountMissingPositives(judged.qrels, options.relevance_level, retrieved.samples);
  }
  eval::EvaluationOptions evaluation{
      .complete = true, .threads = BulkOptions().threads, .samples = retrieved.samples};
  evaluation.ranking = {.relevance_level = options.relevance_level,
                        .max_results = options.max_results.value_or(0),
                        .score_precision = options.score_precision == "double"
                                               ? eval::ScorePrecision::kDouble
                                               : eval::ScorePrecision::kSingle};
  std::vector<FurtherFigures> further;
  if (options.views) further.push_back(ViewsOf(*model, dataset, retrieved.run, options));
  PrintEvaluation(eval::EvaluateRun(retrieved.run, judged.qrels, measures, evaluation), evaluation,
                  options.format, options.per_query, further);
}

}  // namespace tandem::app
