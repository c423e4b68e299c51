#include "commands/tune/tune_command.h"

#include <memory>

#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/job_flags.h"
#include "cli/process/short_waits.h"

namespace tandem::app {
namespace {

CommandBody ConfigureTune(Flags& flags) {
  const auto options = std::make_shared<TuneOptions>();
  flags.Add("recipe", options->recipe, "The recipe, a TOML file; [tune] says what is searched")
      .Required();
  flags.Add("--set", options->sets, "Set a key of the recipe: KEY=VALUE (repeatable)")
      .OneValueEachTime()
      .Takes("KEY=VALUE");
  flags
      .Add("--output", options->output,
           "Folder of the search; without it the recipe's `output` and \"-tune\"")
      .Folder("a search writes several files");
  flags
      .Add("--budget", options->budget,
           "What all trials may take together: 90s, 30m, 2h or \"5000 steps\"; without it "
           "it is what Hyperband's brackets would take")
      .Takes("BUDGET");
  flags.AddSwitch("--resume", options->resume, "Go on with the search in the folder");
  flags.AddSwitch("--ignore-limits", options->ignore_limits,
                  "Train also where memory or disk are sure to be too little");
  flags.Add("--format", options->format, "Format of the table: text, tsv or json")
      .OneOf({"text", "tsv", "json"})
      .ShowDefault();
  AddTimeoutFlag(flags, options->job);
  return [options](const Globals& globals) {
    options->globals = globals;
    WaitBriefly();
    RunTune(*options);
  };
}

constexpr Example kTuneExamples[] = {
    {"tandem tune mine.toml --output runs/search --budget 2h",
     "Search for two hours, and say whether to train at all"},
    {"tandem tune mine.toml --output runs/search --budget 2h --resume",
     "Go on with it after a stop or a crash"},
};

}  // namespace

extern const Command kTuneCommand{
    {.name = "tune", .summary = "Search for a recipe, and say whether to train"},
    ConfigureTune,
    kTuneExamples};

}  // namespace tandem::app
