#include "commands/compare/compare_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/output_style.h"
#include "cli/process/short_waits.h"
#include "commands/by_document.h"
#include "commands/compare/compare_output.h"
#include "commands/evaluate/evaluation_output.h"
#include "commands/identical_ids.h"
#include "data/formats/beir.h"
#include "data/formats/qrels_file.h"
#include "data/formats/trec_run.h"
#include "eval/evaluate.h"
#include "eval/samples/run_samples.h"

namespace tandem::app {
namespace {

constexpr const char* kMeasures = "ndcg@10,mrr@10,map,recall@100";

void AddCompareInputFlags(Flags& flags, CompareCommandOptions& options) {
  flags
      .Add("systems", options.systems,
           "TREC runs, model folders, or folders of runs by `train --seeds`, two or more; the "
           "others are compared with the first")
      .Required();
  flags.Add("--qrels", options.qrels, "Judgements: TREC qrels or a BEIR qrels .tsv");
  flags.Add("--dataset", options.dataset,
            "BEIR folder: what models are measured on, and the texts that are shown");
  flags.Add("--split", options.split, "Split of the data set (default test)");
  AddByDocumentFlag(flags, options.by_document);
  AddLengthFlags(flags, options.lengths);
  AddCacheFlag(flags, options.no_cache);
}

void AddTestFlags(Flags& flags, CompareCommandOptions& options) {
  flags.Add("--measures", options.measures, "Measures, separated by commas, as evaluate takes them")
      .Takes("MEASURES")
      .ShowDefault(kMeasures);
  flags
      .Add("--relevance-level", options.relevance_level,
           "Grade from which a document is a positive (trec_eval -l)")
      .ShowDefault();
  flags.AddSwitch("--complete", options.complete,
                  "Count judged queries without results, with 0 (trec_eval -c)");
  AddIdenticalIdsFlag(flags, options.ignore_identical_ids);
  flags.Add("--permutations", options.permutations, "Sign patterns of the randomisation test")
      .Between(1, 100'000'000)
      .ShowDefault();
  flags.Add("--resamples", options.resamples, "Resamples of the bootstrap")
      .Between(1, 10'000'000)
      .ShowDefault();
  flags
      .Add("--confidence", options.confidence,
           "Of intervals; a difference is seen where p is below 1 minus it")
      .ShowDefault();
  flags.Add("--queries", options.queries, "Queries to show that gained most, and that lost most")
      .Between(0, 1'000'000)
      .ShowDefault();
  flags.Add("--documents", options.documents, "Best documents to show of each of these queries")
      .Between(1, 1000)
      .ShowDefault();
  flags.Add("--format", options.format, "text, tsv or json")
      .OneOf({"text", "tsv", "json"})
      .ShowDefault();
}

bool IsModel(const std::string& path) { return std::filesystem::is_directory(path); }

// Returns the given flag that is for models; "" if there is none.
std::string_view FlagOfModels(const CompareCommandOptions& options) {
  if (options.no_cache) return "--no-cache";
  if (options.lengths.max_query_tokens) return "--max-query-tokens";
  if (options.lengths.max_document_tokens) return "--max-document-tokens";
  if (options.lengths.dimensions) return "--dimensions";
  return "";
}

// Checks all flags before any file is opened.
void CheckCompareOptions(const CompareCommandOptions& options) {
  if (options.systems.size() < 2) {
    throw UsageError("compare needs two systems or more; the first is the baseline");
  }
  std::set<std::string> names;
  for (const std::string& system : options.systems) {
    if (!names.insert(system).second) {
      throw UsageError(fmt::format("{} is given twice; a system is the same as itself", system));
    }
    if (IsModel(system) && options.dataset.empty()) {
      throw UsageError(fmt::format("{} is a folder, which is a model: give --dataset", system));
    }
    if (IsModel(system) && !options.qrels.empty()) {
      throw UsageError("models are measured on --dataset and --split; --qrels is for runs");
    }
  }
  if (options.qrels.empty() && options.dataset.empty()) {
    throw UsageError("runs need judgements: give --qrels, or --dataset");
  }
  if (!options.split.empty() && (options.dataset.empty() || !options.qrels.empty())) {
    throw UsageError("--split says which judgements of --dataset count; it excludes --qrels");
  }
  if (const std::string_view flag = FlagOfModels(options);
      !flag.empty() && std::none_of(options.systems.begin(), options.systems.end(), IsModel)) {
    throw UsageError(fmt::format("{} is for models, and all systems are runs", flag));
  }
  if (options.by_document &&
      std::none_of(options.systems.begin(), options.systems.end(), IsModel)) {
    throw UsageError(
        "--by-document is for models; runs are compared as they are (tandem search --by-document "
        "makes runs of documents)");
  }
  eval::ParseMeasures(options.measures);
  if (!(options.relevance_level > 0) || !std::isfinite(options.relevance_level)) {
    throw UsageError(
        fmt::format("--relevance-level is {}; expected a number above 0", options.relevance_level));
  }
  if (!(options.confidence > 0 && options.confidence < 1)) {
    throw UsageError(
        fmt::format("--confidence is {}; expected a number between 0 and 1", options.confidence));
  }
}

void RunCompareRuns(const CompareCommandOptions& options) {
  KnownTexts texts;
  if (!options.dataset.empty()) {
    texts = {data::LoadBeirQueries(options.dataset), data::LoadBeirCorpus(options.dataset)};
  }
  const data::Qrels qrels = options.qrels.empty()
                                ? data::LoadBeirQrels(options.dataset, options.split)
                                : data::ReadQrels(options.qrels);
  std::vector<ComparedSystem> systems;
  for (const std::string& path : options.systems) {
    systems.push_back(ReadSystem(path, qrels, options));
  }
  FinishComparison(systems, qrels, texts, options);
}

void RunCompare(CompareCommandOptions options) {
  if (options.measures.empty()) options.measures = kMeasures;
  CheckCompareOptions(options);
  if (options.split.empty()) options.split = "test";
  for (const std::string& system : options.systems) {
    if (IsModel(system)) {
      WaitBriefly();
      RunCompareModels(options);
      return;
    }
  }
  RunCompareRuns(options);
}

CommandBody ConfigureCompare(Flags& flags) {
  auto options = std::make_shared<CompareCommandOptions>();
  AddCompareInputFlags(flags, *options);
  AddTestFlags(flags, *options);
  return [options](const Globals& globals) {
    options->globals = globals;
    RunCompare(*options);
  };
}

void WarnOfLeftOut(const eval::Comparison& comparison, const std::vector<std::string>& systems) {
  for (size_t s = 0; s < systems.size(); ++s) {
    if (comparison.left_out[s] == 0) continue;
    Warn(
        fmt::format("{}: queries that another system lacks, left out of the comparison: {}; {} "
                    "queries are in all",
                    systems[s], comparison.left_out[s], comparison.queries.size()));
  }
}

constexpr Example kCompareExamples[] = {
    {"tandem compare models/base runs/mine/model --dataset data/mine",
     "Say whether training helped, and which queries"},
    {"tandem compare bm25.trec ours.trec --qrels data/mine/qrels/test.tsv",
     "Compare runs that any programs have made"},
};

}  // namespace

void SayOf(const std::string& system, std::vector<eval::Remark> remarks) {
  for (eval::Remark& remark : remarks) remark.text = fmt::format("{}: {}", system, remark.text);
  PrintRemarks(remarks);
}

eval::EvaluationOptions EvaluationOptionsOf(const CompareCommandOptions& options) {
  eval::EvaluationOptions evaluation{.complete = options.complete,
                                     .threads = ThreadsOf(options.globals)};
  evaluation.ranking.relevance_level = options.relevance_level;
  return evaluation;
}

ComparedSystem ReadSystem(const std::string& path, const data::Qrels& qrels,
                          const CompareCommandOptions& options) {
  const std::vector<eval::Measure> measures = eval::ParseMeasures(options.measures);
  const eval::EvaluationOptions evaluation = EvaluationOptionsOf(options);
  ComparedSystem compared{.system = {.name = path},
                          .run = data::ReadTrecRun(path, nullptr, ThreadsOf(options.globals))};
  const auto& queries = compared.run.queries();
  if (std::none_of(queries.begin(), queries.end(),
                   [&](const auto& query) { return qrels.Find(query.query) != nullptr; })) {
    throw DataError(path, 0, "",
                    "none of its queries is judged: do run and judgements belong "
                    "together?");
  }
  std::vector<eval::Remark> remarks =
      TreatIdenticalIds(options.ignore_identical_ids, &qrels, compared.run);
  compared.system.evaluation = eval::EvaluateRun(compared.run, qrels, measures, evaluation);
  for (eval::Remark& remark : eval::RemarksOn(compared.system.evaluation, evaluation)) {
    remarks.push_back(std::move(remark));
  }
  SayOf(path, remarks);
  if (compared.system.evaluation.samples) {
    compared.system.samples =
        eval::SamplesOfRun(compared.run, qrels, compared.system.evaluation.queries,
                           evaluation.ranking, /*all_results=*/false)
            .samples;
  }
  return compared;
}

void FinishComparison(const std::vector<ComparedSystem>& compared, const data::Qrels& qrels,
                      const KnownTexts& texts, const CompareCommandOptions& options) {
  std::vector<eval::System> systems;
  for (const ComparedSystem& each : compared) systems.push_back(each.system);
  const eval::Comparison comparison =
      eval::Compare(systems, {.seed = SeedOf(options.globals),
                              .permutations = options.permutations,
                              .resamples = options.resamples,
                              .confidence = options.confidence,
                              .threads = ThreadsOf(options.globals)});
  WarnOfLeftOut(comparison, options.systems);
  std::cout << FormatComparison({.comparison = comparison,
                                 .systems = compared,
                                 .qrels = qrels,
                                 .texts = texts,
                                 .options = options},
                                OutputStyle());
}

extern const Command kCompareCommand{
    {.name = "compare", .summary = "Whether runs or models differ by more than chance, and where"},
    ConfigureCompare,
    kCompareExamples};

}  // namespace tandem::app
