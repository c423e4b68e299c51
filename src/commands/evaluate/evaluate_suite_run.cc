// The work of `tandem evaluate` with several models or data sets.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/process/launch.h"
#include "cli/output_style.h"
#include "commands/evaluate/evaluate_command.h"
#include "commands/evaluate/evaluate_model.h"
#include "commands/evaluate/evaluation_output.h"
#include "commands/evaluate/suite_output.h"
#include "commands/model/load_model.h"
#include "commands/until_stopped.h"

namespace tandem::app {
namespace {

// Returns the cache, which also keeps what an interrupted call has encoded, and a folder for each
// model and whole corpus if --embeddings is given.
EmbeddingPlaces PlacesFor(const EvaluateOptions& options, const EvaluatedModel& model,
                          const EvaluatedSet& set) {
  EmbeddingPlaces places{.embeddings = {}, .cache = CacheUnless(options.no_cache)};
  if (!options.embeddings.empty() && set.candidates.empty() && set.pool == 0) {
    places.embeddings = std::filesystem::path(options.embeddings) / model.name / set.name;
  }
  return places;
}

// Only one model and one data set are in memory at a time, because both may be large. Reading a
// corpus again costs little compared with encoding it.
SuiteResults EvaluateAll(const EvaluateOptions& options, const EvaluationPlan& plan) {
  SuiteResults results{.plan = plan, .of = {plan.sets.size(), std::vector<ModelEvaluation>()}};
  size_t done = 0;
  for (const EvaluatedModel& named : plan.models) {
    const auto model = LoadModel(options.globals, named.flags);
    for (size_t s = 0; s < plan.sets.size(); ++s) {
      const EvaluatedSet& set = plan.sets[s];
      Note(fmt::format("{} on {} ({} of {})", named.name, set.name, ++done,
                       plan.models.size() * plan.sets.size()));
      results.of[s].push_back(
          EvaluateModel(*model, set, plan.measures, options, PlacesFor(options, named, set)));
      StopIfAsked();
      PrintRemarks(results.of[s].back().remarks);
    }
  }
  return results;
}

}  // namespace

void RunEvaluateSuite(const EvaluateOptions& options, const EvaluationPlan& plan) {
  if (!CurrentLaunch().alone()) {
    throw UsageError(
        "several processes share the evaluation of one model on one data set; give one --model and "
        "one --dataset, or start one process");
  }
  const SuiteResults results = UntilStopped("nothing was measured" + KeptInCache(options.no_cache),
                                            [&] { return EvaluateAll(options, plan); });
  std::cout << FormatSuite(results, options.format, options.per_query, OutputStyle());
}

}  // namespace tandem::app
