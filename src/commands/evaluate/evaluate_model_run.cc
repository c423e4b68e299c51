// The work of `tandem evaluate --model`: retrieves with the model, and then evaluates as with a
// run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "cli/output_style.h"
#include "cli/process/job.h"
#include "commands/calibrate/calibration_output.h"
#include "commands/evaluate/applied_output.h"
#include "commands/evaluate/evaluate_command.h"
#include "commands/evaluate/evaluate_model.h"
#include "commands/evaluate/evaluation_output.h"
#include "commands/evaluate/group_output.h"
#include "commands/evaluate/guarantee_check.h"
#include "commands/evaluate/model_thresholds.h"
#include "commands/evaluate/views_output.h"
#include "commands/guarantees/judged_rows.h"
#include "commands/guarantees/query_groups.h"
#include "commands/identical_ids.h"
#include "commands/judged_set.h"
#include "commands/model/load_model.h"
#include "commands/model/model_calibration.h"
#include "commands/until_stopped.h"
#include "data/judgements/candidates.h"
#include "data/judgements/pool.h"
#include "eval/evaluate.h"
#include "eval/ranked_depth.h"
#include "eval/significance/compare.h"
#include "eval/views/embedding_views.h"
#include "report/verdict/recommendation.h"
#include "search/retrieval/retrieve.h"
#include "search/retrieval/view_rows.h"
#include "search/scoring/rerank.h"
#include "search/scoring/score_samples.h"
#include "weights/settings/prompt_choice.h"

namespace tandem::app {
namespace {

size_t DepthFor(const EvaluateOptions& options, const std::vector<eval::Measure>& measures,
                size_t documents) {
  if (!options.max_results) return eval::RankedDepth(measures);
  return *options.max_results == 0 ? documents : *options.max_results;
}

// Says where the first measure leaves no room for a better model to show.
void AddCeiling(const eval::Evaluation& evaluation, std::vector<eval::Remark>* remarks) {
  const eval::MeasureValues& first = evaluation.measures.front();
  std::vector<double> values;
  for (const std::optional<double>& value : first.per_query) {
    if (value) values.push_back(*value);
  }
  std::string text = report::RoomText(report::RoomAbove(values), first.measure.name(), "",
                                      1 - eval::CompareOptions{}.confidence);
  if (!text.empty()) remarks->push_back({std::move(text), /*is_warning=*/false});
}

// Returns the calibration to measure besides the measures of one model on one set. Lists of
// candidates lack the samples that probabilities are measured on, and a table of many models has no
// room for it.
std::optional<weights::Calibration> CalibrationToMeasure(const model::DualEncoder& model,
                                                         const EvaluatedSet& set,
                                                         const EvaluateOptions& options) {
  if (options.model.model.empty() || !set.candidates.empty()) return std::nullopt;
  return CalibrationOf(model, options.model);
}

// Restricts the data set to the documents of a pool.
void TakePool(size_t size, uint64_t seed, data::Dataset& dataset) {
  data::Pool pool = data::DrawPool(dataset.documents, dataset.judged, size, seed);
  Note(fmt::format("evaluation on {}", data::PoolText(pool, size)));
  dataset.documents = std::move(pool.documents);
  dataset.judged = std::move(pool.judged);
}

// A model, the options to encode with, and the folders where the embeddings of a corpus are kept.
struct Ranker {
  model::DualEncoder& model;
  search::EncodeOptions encode;
  EmbeddingPlaces places;
};

// Ranks the candidates. An AUC is then computed from samples of the run. Sets `documents` to the
// length of the longest list.
search::Retrieved RankCandidates(const Ranker& ranker, const EvaluatedSet& set,
                                 const data::Dataset& dataset, size_t& documents) {
  const data::Candidates candidates = data::ReadCandidates(set.candidates, dataset);
  documents = 0;
  for (const auto& list : candidates.documents) documents = std::max(documents, list.size());
  if (candidates.queries_without > 0) {
    Warn(fmt::format("{}: has no candidates for {} of {} judged queries", set.candidates,
                     candidates.queries_without, dataset.judged.size()));
  }
  if (candidates.unjudged_queries > 0) {
    Note(fmt::format("{}: candidates of {} queries without judgements, ignored", set.candidates,
                     candidates.unjudged_queries));
  }
  return {.run = search::Rerank(ranker.model, dataset, candidates,
                                {.folder = ranker.places.cache, .encode = ranker.encode}),
          .samples = {}};
}

// Returns the prompt that a data set chooses; none: it chooses none. Notes it.
std::optional<std::string> ChosenPrompt(const model::DualEncoder& model, model::TextKind kind,
                                        const std::optional<std::string>& choice) {
  if (!choice) return std::nullopt;
  std::string prompt = model.ChoosePrompt(kind, *choice);
  Note(fmt::format("the prompt of {} is \"{}\"",
                   kind == model::TextKind::kQuery ? "queries" : "documents",
                   weights::PromptOnOneLine(prompt)));
  return prompt;
}

// The options of a ranking of the corpus.
struct CorpusRanking {
  std::optional<std::string> query_prompt, document_prompt;  // none: the model's
  size_t top_k = 0;
  double relevance_level = 0;            // > 0: also returns score samples
  search::SearchedRows* keep = nullptr;  // receives all embeddings
  bool ignore_identical_ids = false;
};

// `task` is of the judged queries.
search::Retrieved RankCorpus(const Ranker& ranker, const data::JudgedData& judged,
                             const search::RetrievalTask& task, const CorpusRanking& wanted) {
  const auto source = [](const std::optional<std::string>& prompt) {
    return prompt ? search::PromptSource([&prompt](size_t) { return std::string_view(*prompt); })
                  : search::PromptSource();
  };
  search::Retrieved retrieved =
      search::Retrieve(ranker.model, task,
                       {.top_k = wanted.top_k,
                        .relevance_level = wanted.relevance_level,
                        .encode = ranker.encode,
                        .query_prompt = source(wanted.query_prompt),
                        .document_prompt = source(wanted.document_prompt),
                        .ignore_identical_ids = wanted.ignore_identical_ids,
                        .embeddings = ranker.places.embeddings,
                        .cache = ranker.places.cache,
                        .keep = wanted.keep});
  if (wanted.relevance_level > 0) {
    search::CountMissingPositives(judged.qrels, wanted.relevance_level, retrieved.samples);
  }
  return retrieved;
}

// `of_run` has the remarks on the results. If the search has left identical ids out itself
// (`left_out`), the results cannot show them.
std::vector<eval::Remark> RemarksOnIds(std::vector<eval::Remark> of_run,
                                       const search::QueriesInCorpus& in_corpus, bool left_out) {
  std::vector<eval::Remark> remarks;
  if (left_out) remarks = IdenticalIdsRemarks(true, in_corpus.by_id);
  remarks.insert(remarks.end(), of_run.begin(), of_run.end());
  for (eval::Remark& remark : OwnTextRemarks(in_corpus.by_text)) remarks.push_back(remark);
  return remarks;
}

FurtherFigures ViewsOf(const Ranker& ranker, const data::Dataset& dataset, const data::Run& run,
                       const EvaluateOptions& options) {
  const uint64_t seed = SeedOf(options.globals);
  const eval::ViewOptions views{.seed = seed, .threads = ThreadsOf(options.globals)};
  const search::ViewEmbeddings embeddings =
      search::EncodeForViews(ranker.model, dataset, run,
                             {.relevance_level = options.relevance_level,
                              .most_queries = views.most_pairs,
                              .seed = seed,
                              .encode = ranker.encode,
                              .cache = ranker.places.cache});
  std::vector<std::string_view> ids;
  for (const uint32_t judged : embeddings.judged) {
    ids.push_back(dataset.queries.id(dataset.judged[judged].query));
  }
  return ViewsFigures(eval::MakeEmbeddingViews(embeddings.rows(), views), ids);
}

eval::BootstrapOptions ResamplingOfMeans(const EvaluateOptions& options) {
  return {.seed = SeedOf(options.globals), .threads = ThreadsOf(options.globals)};
}

void AddGuarantees(const GuaranteeMeasurement& measured, GuaranteeCheck* check,
                   ModelEvaluation* result) {
  MeasureGuarantees(measured, check);
  result->further.push_back(GuaranteeFigures(*check, OutputStyle()));
  result->broken_guarantee = BrokenGuarantee(*check);
}

}  // namespace

ModelEvaluation EvaluateModel(model::DualEncoder& model, const EvaluatedSet& set,
                              const std::string& measure_names, const EvaluateOptions& options,
                              const EmbeddingPlaces& places) {
  const std::vector<eval::Measure> measures = eval::ParseMeasures(measure_names);
  JudgedSet loaded = LoadJudgedSet(set.folder, set.split, options.by_document);
  const data::JudgedData& judged = loaded.judged;
  data::Dataset& dataset = loaded.judged.dataset;
  ModelEvaluation result{.corpus = dataset.documents.size()};
  if (result.corpus < 2) {
    throw DataError(set.folder, 0, "",
                    "the corpus has one document, so that every ranking of it is the same; "
                    "an evaluation needs at least two");
  }
  if (set.pool > 0) TakePool(set.pool, SeedOf(options.globals), dataset);
  result.documents = dataset.documents.size();
  std::optional<ThresholdSource> source;
  if (options.cuts_at_scores()) source = SourceOfModel(model, set, options, dataset.judged.size());
  std::optional<SavedThresholds> saved;  // checked before anything is encoded
  if (!options.apply_thresholds.empty()) {
    saved = ReadThresholds(options.apply_thresholds);
    CheckApplicable(*saved, *source);
  }
  std::optional<GuaranteeCheck> guarantees;
  if (!options.guarantees.empty()) guarantees = PlanGuaranteeCheck(model, set, judged, options);
  std::map<std::string, std::string> groups;  // read before anything is encoded
  if (!options.group_by.empty()) groups = QueryGroups(set.folder, options.group_by);
  const std::optional<weights::Calibration> calibration = CalibrationToMeasure(model, set, options);
  const bool samples =
      guarantees || calibration || eval::NeedsSamples(measures) || options.cuts_at_scores();
  search::SearchedRows rows;
  const size_t depth = DepthFor(options, measures, dataset.documents.size());
  const CorpusRanking wanted{
      .query_prompt = ChosenPrompt(model, model::TextKind::kQuery, set.query_prompt),
      .document_prompt = ChosenPrompt(model, model::TextKind::kDocument, set.document_prompt),
      .top_k = guarantees ? std::max(depth, kGuaranteeDepth) : depth,
      .relevance_level = samples ? options.relevance_level : 0,
      .keep = options.cuts_at_scores() ? &rows : nullptr,
      .ignore_identical_ids = options.ignore_identical_ids};
  const search::RetrievalTask task = loaded.Task();
  const search::QueriesInCorpus in_corpus = search::CountQueriesInCorpus(task);
  const Ranker ranker{model, BulkOptions(options.globals), places};
  search::Retrieved retrieved = set.candidates.empty()
                                    ? RankCorpus(ranker, judged, task, wanted)
                                    : RankCandidates(ranker, set, dataset, result.documents);
  const std::vector<eval::Remark> identical =
      RemarksOnIds(TreatIdenticalIds(options.ignore_identical_ids, &judged.qrels, retrieved.run),
                   in_corpus, options.ignore_identical_ids && set.candidates.empty());
  eval::EvaluationOptions evaluation{.complete = true,
                                     .threads = ranker.encode.threads,
                                     .samples = retrieved.samples,
                                     .count_samples = options.cuts_at_scores(),
                                     .samples_asked_for = !options.default_measures};
  evaluation.ranking = {.relevance_level = options.relevance_level,
                        .max_results = options.max_results.value_or(0),
                        .score_precision = options.score_precision == "double"
                                               ? eval::ScorePrecision::kDouble
                                               : eval::ScorePrecision::kSingle};
  result.evaluation = eval::EvaluateRun(retrieved.run, judged.qrels, measures, evaluation);
  result.remarks = eval::RemarksOn(result.evaluation, evaluation);
  result.remarks.insert(result.remarks.end(), identical.begin(), identical.end());
  AddCeiling(result.evaluation, &result.remarks);
  if (!options.group_by.empty()) {
    const GroupReport report =
        MakeGroupReport(result.evaluation, options.group_by, groups, ResamplingOfMeans(options));
    result.further.push_back(GroupFigures(report, OutputStyle()));
  }
  if (calibration) {
    result.further.push_back(CalibrationOfSamples(retrieved.samples, *calibration, OutputStyle()));
  }
  if (source) source->queries = retrieved.samples.size();
  if (!options.thresholds.empty()) {
    result.thresholds = ThresholdsOfModel(retrieved.samples, rows, RequestOf(options));
    result.thresholds->chosen_on = source;
    result.further.push_back(ThresholdFigures(*result.thresholds, OutputStyle()));
  }
  if (saved) {
    const AppliedReport applied =
        MakeAppliedReport(*saved, *source, ShownByModel(retrieved.samples, rows, saved->thresholds),
                          ResamplingOf(options));
    WarnOfApplied(applied);
    result.further.push_back(AppliedFigures(applied, OutputStyle()));
  }
  if (guarantees) {
    AddGuarantees({model, judged, retrieved, wanted.top_k, options, set.folder}, &*guarantees,
                  &result);
  }
  if (options.views) result.further.push_back(ViewsOf(ranker, dataset, retrieved.run, options));
  return result;
}

namespace {

void Print(const ModelEvaluation& found, const EvaluateOptions& options) {
  PrintRemarks(found.remarks);
  if (found.thresholds) WarnOfUnknown(*found.thresholds);
  std::cout << FormatEvaluation(found.evaluation, options.format, OutputStyle(), options.per_query,
                                found.further);
  if (!found.broken_guarantee.empty()) throw CheckFailed(found.broken_guarantee);
  if (found.thresholds) CheckTargetsMet(*found.thresholds);
}

}  // namespace

// Several processes encode together. Each ranks and measures by itself, which costs little compared
// with encoding.
void RunEvaluateModel(const EvaluateOptions& options, const EvaluatedSet& set) {
  RunInGroup("evaluate", options.job, [&](dist::ProcessGroup& group) {
    if (!group.alone() && !options.embeddings.empty()) {
      throw UsageError("--embeddings names a folder for one process, and this is one of several");
    }
    const ModelEvaluation found =
        UntilStopped("nothing was measured" + KeptInCache(options.no_cache), [&] {
          const auto model = LoadModel(options.globals, options.model);
          ModelEvaluation result = EvaluateModel(
              *model, set, options.measures, options,
              {.embeddings = options.embeddings, .cache = CacheUnless(options.no_cache)});
          StopIfAsked();
          return result;
        });
    if (group.leads()) Print(found, options);
  });
}

}  // namespace tandem::app
