#include "app/evaluate_command.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/evaluation_output.h"
#include "app/flags.h"
#include "app/globals.h"
#include "app/torch_half.h"
#include "base/error.h"
#include "data/qrels_file.h"
#include "data/trec_run.h"
#include "eval/evaluate.h"

namespace tandem::app {
namespace {

// The default measures: what papers on retrieval report most. auc needs the scores of all positives
// and of 500 other documents a query: a model has them, few runs hold them.
constexpr const char* kRunMeasures = "ndcg@10,mrr@10,map,recall@10,recall@100";
constexpr const char* kModelMeasures = "ndcg@10,mrr@10,map,recall@10,recall@100,auc";

void AddInputFlags(Flags& flags, EvaluateOptions& options) {
  flags.Add("--qrels", options.qrels, "Judgements: TREC qrels or a BEIR qrels .tsv");
  flags.Add("--run", options.run, "A TREC run: query Q0 document rank score tag");
  flags.Add("--model", options.model.model, "Model folder to evaluate instead of a run");
  flags.Add("--dataset", options.dataset, "BEIR folder that the model is evaluated on");
  flags.Add("--split", options.split, "Split of the data set (default test)");
  AddEmbeddingsFlag(flags, options.embeddings);
  AddPromptFlag(flags, options.model, "queries");
  AddLengthFlags(flags, options.model);
}

void AddMeasureFlags(Flags& flags, EvaluateOptions& options) {
  flags
      .Add("--measures", options.measures,
           "Measures, separated by commas: ndcg[@k], map, mrr[@k], recall@k, precision@k, "
           "success@k, rprec, bpref, auc, auc_per_query")
      .ShowDefault(fmt::format("{}; with --model also auc", kRunMeasures));
  flags.AddSwitch("--per-query", options.per_query, "Print the values of every query too");
  flags.AddSwitch("--views", options.views,
                  "With --model: print numbers on the embedding space too; as json also histograms "
                  "and pictures");
  flags
      .Add("--relevance-level", options.relevance_level,
           "Grade from which a document is a positive (trec_eval -l); ndcg uses all grades")
      .ShowDefault();
  flags.AddSwitch("--complete", options.complete,
                  "Count judged queries without results, with 0 (trec_eval -c); of a model they "
                  "always count");
  flags
      .Add("--max-results", options.max_results,
           "Results per query that count (trec_eval -M); 0: all")
      .Between(0, 1'000'000'000)
      .ShowDefault("all of a run, 1000 of a model");
  flags
      .Add("--score-precision", options.score_precision,
           "Precision of comparing scores: single (trec_eval 9) or double (trec_eval 10)")
      .OneOf({"single", "double"})
      .ShowDefault();
  flags.Add("--format", options.format, "text, tsv or json")
      .OneOf({"text", "tsv", "json"})
      .ShowDefault();
}

void CheckInputs(const EvaluateOptions& options) {
  const bool with_run = !options.run.empty() || !options.qrels.empty();
  const bool with_model = !options.model.model.empty() || !options.dataset.empty() ||
                          !options.split.empty() || !options.embeddings.empty() ||
                          options.model.max_query_tokens || options.model.max_document_tokens ||
                          options.model.dimensions || options.model.prompt;
  if (with_run && with_model) {
    throw UsageError(
        "--qrels and --run exclude --model, --dataset and --split, and the flags that go with "
        "them; give one or the other");
  }
  if (options.views && options.model.model.empty()) {
    throw UsageError("--views needs --model and --dataset: a run has scores and no embeddings");
  }
  if (!with_run && !with_model) {
    throw UsageError("nothing to evaluate: give --qrels and --run, or --model and --dataset");
  }
  if (with_run && (options.run.empty() || options.qrels.empty())) {
    throw UsageError(options.run.empty() ? "--qrels needs --run" : "--run needs --qrels");
  }
  if (with_model && options.model.model.empty()) {
    if (!options.dataset.empty()) throw UsageError("--dataset needs --model");
    throw UsageError(options.split.empty() ? "--embeddings, --prompt, --dimensions and the length "
                                             "limits need --model and --dataset"
                                           : "--split needs --model and --dataset");
  }
  if (with_model && options.dataset.empty()) throw UsageError("--model needs --dataset");
}

// Checks all flags before any file is opened.
void CheckOptions(const EvaluateOptions& options) {
  CheckInputs(options);
  eval::ParseMeasures(options.measures);
  if (!(options.relevance_level > 0) || !std::isfinite(options.relevance_level)) {
    throw UsageError(
        fmt::format("--relevance-level is {}; expected a number above 0", options.relevance_level));
  }
}

void RunEvaluateRun(const EvaluateOptions& options) {
  const data::Qrels qrels = data::ReadQrels(options.qrels);
  const data::Run run = data::ReadTrecRun(options.run);
  eval::EvaluationOptions evaluation{.complete = options.complete, .threads = Threads()};
  evaluation.ranking = {.relevance_level = options.relevance_level,
                        .max_results = options.max_results.value_or(0),
                        .score_precision = options.score_precision == "double"
                                               ? eval::ScorePrecision::kDouble
                                               : eval::ScorePrecision::kSingle};
  PrintEvaluation(eval::EvaluateRun(run, qrels, eval::ParseMeasures(options.measures), evaluation),
                  evaluation, options.format, options.per_query);
}

void RunEvaluate(EvaluateOptions options) {
  if (options.measures.empty()) {
    options.measures = options.model.model.empty() ? kRunMeasures : kModelMeasures;
  }
  CheckOptions(options);
  if (options.model.model.empty()) {
    RunEvaluateRun(options);
    return;
  }
  if (options.split.empty()) options.split = "test";
  RunEvaluateModel(options);
}

std::function<void()> Configure(Flags& flags) {
  auto options = std::make_shared<EvaluateOptions>();
  AddInputFlags(flags, *options);
  AddMeasureFlags(flags, *options);
  return [options] { RunEvaluate(*options); };
}

}  // namespace

[[gnu::weak]] void RunEvaluateModel(const EvaluateOptions&) { ReplaceByTorchHalf(); }

extern const Command kEvaluateCommand{
    {.name = "evaluate", .summary = "Measure a run, or a model on a data set"}, Configure};

}  // namespace tandem::app
