#include "commands/calibrate/calibrate_command.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"

namespace tandem::app {
namespace {

void RunCheckedCalibrate(const CalibrateOptions& options) {
  if (!(options.relevance_level > 0) || !std::isfinite(options.relevance_level)) {
    throw UsageError(
        fmt::format("--relevance-level is {}; expected a number above 0", options.relevance_level));
  }
  WaitBriefly();
  RunCalibrate(options);
}

CommandBody ConfigureCalibrate(Flags& flags) {
  const auto options = std::make_shared<CalibrateOptions>();
  flags
      .Add("model", options->model.model,
           "Model folder; its tandem.json gets the probability, nothing else changes")
      .Required();
  flags.Add("--dataset", options->dataset, "BEIR folder with judgements to fit to").Required();
  flags.Add("--split", options->split, "Split of the data set; not the one that you evaluate on")
      .ShowDefault();
  flags
      .Add("--method", options->method,
           "objective: what bixse learned; platt: a logistic curve; isotonic: any rising one")
      .OneOf({"objective", "platt", "isotonic"})
      .ShowDefault("objective where one learned it, else platt");
  flags
      .Add("--relevance-level", options->relevance_level,
           "Grade from which a document is a positive; documents that nobody judged are none")
      .ShowDefault();
  flags
      .Add("--depth", options->depth,
           "Fit to each query's best N documents alone, for probabilities of what stands first: 1 "
           "for the first hit (default: all samples, the positives and the best 500 others)")
      .Between(1, 500);
  flags.AddSwitch("--dry-run", options->dry_run, "Measure, but leave the folder as it is");
  AddEmbeddingsFlag(flags, options->embeddings);
  AddCacheFlag(flags, options->no_cache);
  flags.Add("--format", options->format, "text, tsv or json")
      .OneOf({"text", "tsv", "json"})
      .ShowDefault();
  return [options](const Globals& globals) {
    options->globals = globals;
    RunCheckedCalibrate(*options);
  };
}

constexpr Example kCalibrateExamples[] = {
    {"tandem calibrate runs/mine/model --dataset data/mine --split dev",
     "Fit a logistic curve, and keep it in the model's folder"},
    {"tandem calibrate runs/mine/model --dataset data/mine --split dev --method isotonic",
     "Fit any rising curve"},
};

}  // namespace

extern const Command kCalibrateCommand{
    {.name = "calibrate", .summary = "Fit how a model's scores become probabilities"},
    ConfigureCalibrate,
    kCalibrateExamples};

}  // namespace tandem::app
