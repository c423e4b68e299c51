#include "commands/evaluate/evaluate_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/output_style.h"
#include "cli/process/job_flags.h"
#include "cli/process/short_waits.h"
#include "commands/by_document.h"
#include "commands/evaluate/applied_output.h"
#include "commands/evaluate/evaluation_output.h"
#include "commands/evaluate/guarantee_check.h"
#include "commands/evaluate/threshold_file.h"
#include "commands/evaluate/threshold_output.h"
#include "commands/identical_ids.h"
#include "data/formats/qrels_file.h"
#include "data/formats/trec_run.h"
#include "eval/evaluate.h"
#include "eval/measure.h"

namespace tandem::app {
namespace {

// The default measures are those that papers on retrieval report most. auc needs the scores of all
// positives and of 500 other documents for each query: a model has them, but few runs include them.
constexpr const char* kRunMeasures = "ndcg@10,mrr@10,map,recall@10,recall@100";
constexpr const char* kModelMeasures = "ndcg@10,mrr@10,map,recall@10,recall@100,auc";

void AddEvaluateInputFlags(Flags& flags, EvaluateOptions& options) {
  flags.Add("--qrels", options.qrels, "Judgements: TREC qrels or a BEIR qrels .tsv");
  flags.Add("--run", options.run, "A TREC run: query Q0 document rank score tag");
  flags
      .Add("--model", options.models,
           "Model folder to evaluate instead of a run; several times: a table of all")
      .OneValueEachTime();
  flags
      .Add("--dataset", options.datasets,
           "BEIR folder that models are evaluated on; may be given several times")
      .OneValueEachTime();
  flags.Add("--suite", options.suite,
            "Evaluate on all BEIR folders in this folder, or on what this TOML file says");
  flags.Add("--split", options.split, "Split of the data sets (default test)");
  flags.Add("--candidates", options.candidates,
            "Rank the documents of this TREC run again, and no others");
  flags
      .Add("--pool", options.pool,
           "Rank so many documents of the corpus only: all judged ones, and others drawn by --seed")
      .Between(1, 4'294'967'295);
  AddEmbeddingsFlag(flags, options.embeddings);
  AddCacheFlag(flags, options.no_cache);
  AddByDocumentFlag(flags, options.by_document);
  AddPromptFlag(flags, options.model, "queries");
  AddLengthFlags(flags, options.model);
}

std::string SpellingsOfMeasures() {
  std::vector<std::string> spellings;
  for (const eval::MeasureInfo* info : eval::Measures()) spellings.push_back(Spellings(*info));
  return fmt::format("{}", fmt::join(spellings, ", "));
}

void AddMeasureFlags(Flags& flags, EvaluateOptions& options) {
  flags
      .Add("--measures", options.measures,
           fmt::format("Measures, separated by commas, as spelled here or by ir_measures: {}; with "
                       "parameters map(rel=2), rbp(p=0.9)",
                       SpellingsOfMeasures()))
      .Takes("MEASURES")
      .ShowDefault(fmt::format("{}; with --model also auc", kRunMeasures));
  flags.AddSwitch("--per-query", options.per_query, "Print the values of every query too");
  flags
      .Add("--group-by", options.group_by,
           "With --model: also the measures of the queries with each value of this field of "
           "queries.jsonl, with intervals")
      .Takes("FIELD");
  flags.AddSwitch("--views", options.views,
                  "With --model: print numbers on the embedding space too; as json also histograms "
                  "and pictures");
  flags
      .Add(
          "--relevance-level", options.asked_relevance_level,
          "Grade from which a document is a positive (trec_eval -l), where a measure has no rel of "
          "its own; ndcg uses all grades")
      .ShowDefault("1, or that of --guarantee");
  flags.AddSwitch("--complete", options.complete,
                  "Count judged queries without results, with 0 (trec_eval -c); of a model they "
                  "always count");
  AddIdenticalIdsFlag(flags, options.ignore_identical_ids);
  flags
      .Add("--max-results", options.max_results,
           "Results per query that count (trec_eval -M); 0: all")
      .Between(0, 1'000'000'000)
      .ShowDefault("all of a run, 1000 of a model");
  flags
      .Add("--score-precision", options.score_precision,
           "Precision of comparing scores: double (trec_eval 10) or single (trec_eval 9, "
           "pytrec_eval)")
      .OneOf({"single", "double"})
      .ShowDefault();
  flags.Add(
      "--thresholds", options.thresholds,
      "Scores to cut results at, for targets separated by commas: precision=P, recall=R, fpr=F "
      "(false-positive rate), results=N (per query)");
  flags.Add("--apply-thresholds", options.apply_thresholds,
            "Measure the thresholds of this file, which --thresholds --format json has printed for "
            "other data: precision, recall, and the share of queries that get nothing");
  flags
      .Add("--guarantee", options.guarantees,
           "With --model: whether this promise of the model (tandem calibrate --guarantee) is kept "
           "here, such as recall=0.9, or all; may be given several times")
      .OneValueEachTime();
  flags.Add("--unanswerable", options.unanswerable,
            "Queries without an answer that no-answer is checked with: a file of JSON lines, or "
            "held-out (default: held-out, if it was promised with it)");
  flags.Add("--format", options.format, "text, tsv or json")
      .OneOf({"text", "tsv", "json"})
      .ShowDefault();
}

bool HasModelFlags(const EvaluateOptions& options) {
  return !options.split.empty() || !options.embeddings.empty() || !options.candidates.empty() ||
         options.pool || options.no_cache || options.by_document ||
         options.model.max_query_tokens || options.model.max_document_tokens ||
         options.model.dimensions || options.model.prompt;
}

// Returns the given flag that a ranking of documents by their passages has no use for; "" if there
// is none.
std::string_view FlagOfTexts(const EvaluateOptions& options) {
  if (!options.candidates.empty()) return "--candidates";
  if (options.pool) return "--pool";
  if (!options.thresholds.empty()) return "--thresholds";
  if (!options.apply_thresholds.empty()) return "--apply-thresholds";
  if (options.views) return "--views";
  return "";
}

void CheckModelInputs(const EvaluateOptions& options) {
  if (options.suite.empty() && options.models.empty()) {
    if (!options.datasets.empty()) throw UsageError("--dataset needs --model");
    throw UsageError(options.split.empty()
                         ? "--embeddings, --candidates, --pool, --no-cache, --by-document, "
                           "--prompt, --dimensions "
                           "and the length limits need --model and --dataset"
                         : "--split needs --model and --dataset");
  }
  if (options.suite.empty() && options.datasets.empty()) {
    throw UsageError("--model needs --dataset, or --suite");
  }
  if (!options.candidates.empty() && options.pool) {
    throw UsageError("--candidates says which documents are ranked; it excludes --pool");
  }
  if ((!options.candidates.empty() || options.pool) && !options.embeddings.empty()) {
    throw UsageError(
        fmt::format("{} encodes no whole corpus that --embeddings could keep; give one of them",
                    options.pool ? "--pool" : "--candidates"));
  }
  const char* const cut = options.thresholds.empty() ? "--apply-thresholds" : "--thresholds";
  if (options.cuts_at_scores() && (IsSuite(options) || !options.candidates.empty())) {
    throw UsageError(
        fmt::format("{} is for one run, or for one model on the corpus of one data set; "
                    "it excludes {}",
                    cut, IsSuite(options) ? "further ones" : "--candidates"));
  }
  if (options.cuts_at_scores() && options.ignore_identical_ids) {
    throw UsageError(fmt::format(
        "{} of a model counts every document of the corpus; it excludes --ignore-identical-ids: "
        "write a run with search --ignore-identical-ids, and evaluate that",
        cut));
  }
  if (const std::string_view flag = FlagOfTexts(options); options.by_document && !flag.empty()) {
    throw UsageError(fmt::format(
        "{} is for the texts of a corpus, which are passages here; it excludes --by-document",
        flag));
  }
  if (options.views && IsSuite(options)) {
    throw UsageError("--views shows one model on one data set; it excludes further ones");
  }
  if (!options.group_by.empty() && IsSuite(options)) {
    throw UsageError("--group-by shows one model on one data set; it excludes further ones");
  }
  if (options.per_query && IsSuite(options) && options.format == "text") {
    throw UsageError("--per-query of several models or data sets needs --format tsv or json");
  }
}

void CheckInputs(const EvaluateOptions& options) {
  const bool with_run = !options.run.empty() || !options.qrels.empty();
  const bool with_model = !options.models.empty() || !options.datasets.empty() ||
                          !options.suite.empty() || HasModelFlags(options);
  if (with_run && with_model) {
    throw UsageError(
        "--qrels and --run exclude --model, --dataset and --split, and the flags that go with "
        "them; give one or the other");
  }
  if (options.views && !with_model) {
    throw UsageError("--views needs --model and --dataset: a run has scores and no embeddings");
  }
  if (!options.group_by.empty() && !with_model) {
    throw UsageError(
        "--group-by needs --model and --dataset: the fields of queries are in queries.jsonl");
  }
  if (!with_run && !with_model) {
    throw UsageError("nothing to evaluate: give --qrels and --run, or --model and --dataset");
  }
  if (with_run && (options.run.empty() || options.qrels.empty())) {
    throw UsageError(options.run.empty() ? "--qrels needs --run" : "--run needs --qrels");
  }
  if (with_model) CheckModelInputs(options);
}

void CheckGuaranteeFlags(const EvaluateOptions& options) {
  if (options.guarantees.empty()) {
    if (!options.unanswerable.empty()) throw UsageError("--unanswerable needs --guarantee");
    return;
  }
  const char* excluded = options.models.empty()         ? "--run"
                         : IsSuite(options)             ? "further models, data sets and suites"
                         : !options.candidates.empty()  ? "--candidates"
                         : options.pool                 ? "--pool"
                         : options.by_document          ? "--by-document"
                         : options.ignore_identical_ids ? "--ignore-identical-ids"
                                                        : nullptr;
  if (excluded == nullptr) return;
  throw UsageError(fmt::format(
      "--guarantee checks one model on the corpus of one data set; it excludes {}", excluded));
}

// Checks all flags before any file is opened.
void CheckEvaluateOptions(const EvaluateOptions& options) {
  CheckInputs(options);
  CheckGuaranteeFlags(options);
  if (!options.measures.empty()) eval::ParseMeasures(options.measures);
  if (!options.thresholds.empty()) eval::ParseTargets(options.thresholds);
  if (!options.thresholds.empty() && !options.apply_thresholds.empty()) {
    throw UsageError(
        "--thresholds chooses on this data, --apply-thresholds measures what was chosen on other "
        "data; give one of them");
  }
  if (!options.apply_thresholds.empty()) ReadThresholds(options.apply_thresholds);
  if (!(options.relevance_level > 0) || !std::isfinite(options.relevance_level)) {
    throw UsageError(
        fmt::format("--relevance-level is {}; expected a number above 0", options.relevance_level));
  }
}

ThresholdSource SourceOfRun(const EvaluateOptions& options, size_t queries) {
  const auto name = [](const std::string& path) {
    return std::filesystem::path(path).filename().native();
  };
  ThresholdSource source;
  source.data = name(options.qrels);
  source.queries = queries;
  source.relevance_level = options.relevance_level;
  source.run = name(options.run);
  return source;
}

void RunEvaluateRun(const EvaluateOptions& options) {
  const data::Qrels qrels = data::ReadQrels(options.qrels);
  data::Run run = data::ReadTrecRun(options.run, nullptr, ThreadsOf(options.globals));
  const std::vector<eval::Remark> identical =
      TreatIdenticalIds(options.ignore_identical_ids, &qrels, run);
  eval::EvaluationOptions evaluation{.complete = options.complete,
                                     .threads = ThreadsOf(options.globals),
                                     .count_samples = options.cuts_at_scores()};
  evaluation.ranking = {.relevance_level = options.relevance_level,
                        .max_results = options.max_results.value_or(0),
                        .score_precision = options.score_precision == "double"
                                               ? eval::ScorePrecision::kDouble
                                               : eval::ScorePrecision::kSingle};
  const eval::Evaluation found =
      eval::EvaluateRun(run, qrels, eval::ParseMeasures(options.measures), evaluation);
  PrintRemarks(eval::RemarksOn(found, evaluation));
  PrintRemarks(identical);
  std::optional<ThresholdReport> thresholds;
  std::vector<FurtherFigures> further;
  if (!options.thresholds.empty()) {
    thresholds = ThresholdsOfRun(run, qrels, found, evaluation.ranking, RequestOf(options));
    thresholds->chosen_on = SourceOfRun(options, found.queries.size());
    WarnOfUnknown(*thresholds);
    further.push_back(ThresholdFigures(*thresholds, OutputStyle()));
  }
  if (!options.apply_thresholds.empty()) {
    const SavedThresholds saved = ReadThresholds(options.apply_thresholds);
    const ThresholdSource source = SourceOfRun(options, found.queries.size());
    CheckApplicable(saved, source);
    const AppliedReport applied =
        AppliedToRun(saved, source, run, qrels, found, evaluation.ranking, ResamplingOf(options));
    WarnOfApplied(applied);
    further.push_back(AppliedFigures(applied, OutputStyle()));
  }
  std::cout << FormatEvaluation(found, options.format, OutputStyle(), options.per_query, further);
  if (thresholds) CheckTargetsMet(*thresholds);
}

void RunEvaluate(EvaluateOptions options) {
  const bool with_run = !options.run.empty() || !options.qrels.empty();
  if (options.measures.empty() && !IsSuite(options)) {
    options.measures = with_run ? kRunMeasures : kModelMeasures;
    options.default_measures = true;
  }
  options.relevance_level = options.asked_relevance_level.value_or(1);
  CheckEvaluateOptions(options);
  if (with_run) {
    RunEvaluateRun(options);
  } else if (IsSuite(options)) {
    WaitBriefly();
    RunEvaluateSuite(options, PlanEvaluation(options));
  } else {
    options.model.model = options.models.front();
    if (!options.guarantees.empty()) options.relevance_level = GuaranteedLevel(options);
    WaitBriefly();
    RunEvaluateModel(options, {.folder = options.datasets.front(),
                               .split = options.split.empty() ? "test" : options.split,
                               .candidates = options.candidates,
                               .pool = options.pool.value_or(0)});
  }
}

CommandBody ConfigureEvaluate(Flags& flags) {
  auto options = std::make_shared<EvaluateOptions>();
  AddEvaluateInputFlags(flags, *options);
  AddMeasureFlags(flags, *options);
  AddTimeoutFlag(flags, options->job);
  return [options](const Globals& globals) {
    options->globals = globals;
    RunEvaluate(*options);
  };
}

constexpr Example kEvaluateExamples[] = {
    {"tandem evaluate --model runs/mine/model --dataset data/mine",
     "Measure a model on a data set's test queries"},
    {"tandem evaluate --qrels data/mine/qrels/test.tsv --run run.trec --measures "
     "ndcg@10,recall@100",
     "Measure a run that any program has made"},
};

}  // namespace

ThresholdRequest RequestOf(const EvaluateOptions& options) {
  return {.targets = eval::ParseTargets(options.thresholds),
          .seed = SeedOf(options.globals),
          .threads = ThreadsOf(options.globals)};
}

eval::BootstrapOptions ResamplingOf(const EvaluateOptions& options) {
  return {.seed = SeedOf(options.globals),
          .resamples = kThresholdResamples,
          .threads = ThreadsOf(options.globals)};
}

bool IsSuite(const EvaluateOptions& options) {
  return !options.suite.empty() || options.models.size() > 1 || options.datasets.size() > 1;
}

extern const Command kEvaluateCommand{
    {.name = "evaluate", .summary = "Measure a run, or models on data sets"},
    ConfigureEvaluate,
    kEvaluateExamples};

}  // namespace tandem::app
