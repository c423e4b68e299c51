// The work of `tandem compare` if a system is a model: retrieves with it, and then compares as with
// runs.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "commands/compare/compare_command.h"
#include "commands/compare/trained_runs.h"
#include "commands/identical_ids.h"
#include "commands/judged_set.h"
#include "commands/model/load_model.h"
#include "commands/until_stopped.h"
#include "eval/evaluate.h"
#include "eval/ranked_depth.h"
#include "eval/significance/seeds.h"
#include "search/retrieval/retrieve.h"
#include "search/scoring/score_samples.h"

namespace tandem::app {
namespace {

ComparedSystem SearchWith(const std::string& folder, const JudgedSet& loaded,
                          const CompareCommandOptions& options) {
  const std::vector<eval::Measure> measures = eval::ParseMeasures(options.measures);
  const bool samples = eval::NeedsSamples(measures);
  ModelFlags flags = options.lengths;
  flags.model = folder;
  const auto model = LoadModel(options.globals, flags);
  const data::Qrels& qrels = loaded.judged.qrels;
  const search::RetrievalTask task = loaded.Task();
  search::Retrieved retrieved =
      search::Retrieve(*model, task,
                       {.top_k = eval::RankedDepth(measures),
                        .relevance_level = samples ? options.relevance_level : 0,
                        .encode = BulkOptions(options.globals),
                        .ignore_identical_ids = options.ignore_identical_ids,
                        .cache = CacheUnless(options.no_cache)});
  std::vector<eval::Remark> remarks =
      TreatIdenticalIds(options.ignore_identical_ids, &qrels, retrieved.run);
  const search::QueriesInCorpus in_corpus = search::CountQueriesInCorpus(task);
  if (options.ignore_identical_ids) {
    for (eval::Remark& remark : IdenticalIdsRemarks(true, in_corpus.by_id)) {
      remarks.push_back(std::move(remark));
    }
  }
  for (eval::Remark& remark : OwnTextRemarks(in_corpus.by_text)) {
    remarks.push_back(std::move(remark));
  }
  SayOf(folder, std::move(remarks));
  if (samples) {
    search::CountMissingPositives(qrels, options.relevance_level, retrieved.samples);
  }
  eval::EvaluationOptions evaluation = EvaluationOptionsOf(options);
  evaluation.complete = true;
  evaluation.samples = retrieved.samples;
  ComparedSystem compared{.system = {.name = folder}, .run = std::move(retrieved.run)};
  compared.system.evaluation = eval::EvaluateRun(compared.run, qrels, measures, evaluation);
  compared.system.samples = std::move(retrieved.samples);
  return compared;
}

// Measures the models of a recipe's seeds, one after the other. The documents that are shown are
// those of the first one.
ComparedSystem SearchWithSeeds(const std::string& folder, const std::vector<std::string>& models,
                               const JudgedSet& loaded, const CompareCommandOptions& options) {
  ComparedSystem recipe;
  std::vector<eval::Evaluation> seeds;
  for (const std::string& model : models) {
    ComparedSystem found = SearchWith(model, loaded, options);
    seeds.push_back(found.system.evaluation);
    if (seeds.size() == 1) recipe = std::move(found);
    StopIfAsked();
  }
  recipe.system.name = folder;
  recipe.system.samples.clear();
  recipe.system.evaluation = eval::MeanOverSeeds(seeds);
  recipe.system.seeds = std::move(seeds);
  return recipe;
}

ComparedSystem Measure(const std::string& path, const JudgedSet& loaded,
                       const CompareCommandOptions& options) {
  if (!std::filesystem::is_directory(path)) return ReadSystem(path, loaded.judged.qrels, options);
  Note(fmt::format("measure {}", path));
  const std::vector<std::string> seeds = ModelsOfSeeds(path);
  return seeds.empty() ? SearchWith(path, loaded, options)
                       : SearchWithSeeds(path, seeds, loaded, options);
}

}  // namespace

void RunCompareModels(const CompareCommandOptions& options) {
  JudgedSet loaded = LoadJudgedSet(options.dataset, options.split, options.by_document);
  loaded.AddTexts();
  if (const std::string what = WhatIsCompared(options.systems); !what.empty()) Note(what);
  std::vector<ComparedSystem> systems =
      UntilStopped("nothing was compared" + KeptInCache(options.no_cache), [&] {
        std::vector<ComparedSystem> found;
        for (const std::string& path : options.systems) {
          found.push_back(Measure(path, loaded, options));
          StopIfAsked();
        }
        return found;
      });
  data::Dataset& dataset = loaded.judged.dataset;
  FinishComparison(systems, loaded.judged.qrels,
                   {std::move(dataset.queries), std::move(dataset.documents)}, options);
}

}  // namespace tandem::app
