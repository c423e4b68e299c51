#include "commands/train/train_command.h"

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/job_flags.h"
#include "cli/process/short_waits.h"

namespace tandem::app {
namespace {

// Flags of a run that some flags of the profile exclude, because they would have no effect.
struct RunFlags {
  Flag output;
  Flag resume;
  Flag check;
  Flag check_gradient_cache;
  Flag ignore_limits;
  Flag seeds;
};

void AddProfileFlags(Flags& flags, TrainOptions& options, RunFlags run) {
  Flag profile = flags
                     .AddSwitch("--profile", options.profile,
                                "After the run, print where its steps' time went, by operation")
                     .Excludes(run.check)
                     .Excludes(run.check_gradient_cache)
                     .Excludes(run.seeds);
  flags
      .Add("--profile-steps", options.profile_steps,
           "Make only this many steps, print where their time went, write nothing")
      .Between(1, 1'000'000'000)
      .Excludes(profile)
      .Excludes(run.output)
      .Excludes(run.resume)
      .Excludes(run.check)
      .Excludes(run.check_gradient_cache)
      .Excludes(run.ignore_limits)
      .Excludes(run.seeds);
  flags
      .Add("--format", options.format,
           "Format of the profile, or of the table of --seeds: text, tsv or json")
      .OneOf({"text", "tsv", "json"})
      .ShowDefault("text");
}

void CheckFormat(TrainOptions& options) {
  if (options.format.empty()) {
    options.format = "text";
  } else if (!options.profile && options.profile_steps == 0 && options.seeds == 0) {
    throw UsageError(
        "--format is that of a table: give --profile, --profile-steps or --seeds with it");
  }
}

CommandBody ConfigureTrain(Flags& flags) {
  const auto options = std::make_shared<TrainOptions>();
  flags.Add("recipe", options->recipe, "The recipe, a TOML file").Required();
  flags.Add("--set", options->sets, "Set a key of the recipe: KEY=VALUE (repeatable)")
      .OneValueEachTime()
      .Takes("KEY=VALUE");
  Flag output =
      flags.Add("--output", options->output, "Run folder; wins over the recipe's `output`");
  Flag resume = flags.AddSwitch("--resume", options->resume, "Continue the run in the run folder");
  Flag check = flags
                   .AddSwitch("--check", options->check,
                              "Read everything, train nothing: counts, lengths, memory and time; "
                              "of --output only the disk's room is looked at")
                   .Excludes(resume);
  Flag check_cache = flags
                         .AddSwitch("--check-gradient-cache", options->check_gradient_cache,
                                    "Train nothing: compare the gradient in chunks with the direct "
                                    "one on the first batch")
                         .Excludes(output)
                         .Excludes(resume)
                         .Excludes(check);
  Flag ignore_limits = flags
                           .AddSwitch("--ignore-limits", options->ignore_limits,
                                      "Begin also where memory or disk are sure to be too little")
                           .Excludes(check_cache);
  Flag seeds = flags
                   .Add("--seeds", options->seeds,
                        "Train so many runs that differ in their seed alone, one after another, in "
                        "OUTPUT/seed-1, OUTPUT/seed-2, ...; print their mean and spread")
                   .Between(2, 100)
                   .Excludes(check)
                   .Excludes(check_cache);
  AddTimeoutFlag(flags, options->job);
  AddProfileFlags(flags, *options, {output, resume, check, check_cache, ignore_limits, seeds});
  return [options](const Globals& globals) {
    options->globals = globals;
    CheckFormat(*options);
    WaitBriefly();
    RunTrain(*options);
  };
}

constexpr Example kTrainExamples[] = {
    {"tandem train mine.toml --output runs/mine",
     "Train as a recipe says; the best model is runs/mine/model"},
    {"tandem train mine.toml --output runs/two --set train.batch=32 --check",
     "Read everything with another batch, and train nothing"},
};

}  // namespace

extern const Command kTrainCommand{
    {.name = "train", .summary = "Train a model as a recipe says"}, ConfigureTrain, kTrainExamples};

}  // namespace tandem::app
