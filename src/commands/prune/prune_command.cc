#include "commands/prune/prune_command.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/job_flags.h"
#include "cli/process/short_waits.h"

namespace tandem::app {
namespace {

// Checks the options before a model or data are read, and runs the command.
void RunCheckedPrune(const PruneOptions& options) {
  if (!(options.keep > 0 && options.keep <= 1)) {
    throw UsageError(fmt::format(
        "--keep is {}; expected a share of the pairs above 0 and at most 1", options.keep));
  }
  if (!(options.positive_grade_or_default() > 0)) {
    throw UsageError(
        fmt::format("--positive-grade is {}; expected a number above 0", *options.positive_grade));
  }
  WaitBriefly();
  RunPrune(options);
}

CommandBody ConfigurePrune(Flags& flags) {
  const auto options = std::make_shared<PruneOptions>();
  flags
      .Add("data", options->dataset,
           "BEIR folder, or file of training lines (JSON, CSV or TSV, also gzipped)")
      .Required();
  flags.Add("--model", options->model.model, "Model folder that scores the pairs").Required();
  AddTimeoutFlag(flags, options->job);
  flags
      .Add("--keep", options->keep,
           "Share of all pairs of a query and a positive that is kept, those that score highest")
      .Required();
  flags
      .Add("--score", options->score,
           "cosine: of the embeddings. consistency: the rank of the positive among 10,000 random "
           "positives of other queries, ties by the cosine")
      .OneOf({"cosine", "consistency"})
      .ShowDefault();
  flags
      .Add("--output", options->output,
           "Folder or file to write, in the format of the data (of CSV and TSV as JSON lines with "
           "the same names); must not exist. The histogram of scores goes to "
           "OUTPUT.histogram.tsv")
      .Required();
  flags
      .Add("--from", options->from,
           "Format of the data; auto: a folder is beir, a file by its keys")
      .OneOf({"auto", "beir", "sentence_transformers", "flag_embedding", "tevatron"})
      .ShowDefault();
  flags.Add("--split", options->split, "Split of a BEIR folder").ShowDefault("train");
  flags.Add("--positive-grade", options->positive_grade, "Lowest grade of a positive")
      .ShowDefault("1");
  AddLineFlags(flags, options->lines);
  flags
      .Add("--review", options->review,
           "Print so many of the lowest pairs, and of those on both sides of the border")
      .Between(0, 1'000'000)
      .ShowDefault();
  AddCacheFlag(flags, options->no_cache);
  flags.Add("--format", options->format, "Format of the report: text or json")
      .OneOf({"text", "json"})
      .ShowDefault();
  AddLengthFlags(flags, options->model);
  return [options](const Globals& globals) {
    options->globals = globals;
    RunCheckedPrune(*options);
  };
}

constexpr Example kPruneExamples[] = {
    {"tandem prune data/mine --model models/base --keep 0.5 --output data/half",
     "Keep the half of the pairs that scores highest"},
    {"tandem prune pairs.jsonl --model models/base --keep 0.25 --score consistency --output "
     "best.jsonl",
     "Score by rank among other queries' documents"},
};

}  // namespace

extern const Command kPruneCommand{
    {.name = "prune", .summary = "Leave out the pairs of a data set that a model scores lowest"},
    ConfigurePrune,
    kPruneExamples};

}  // namespace tandem::app
