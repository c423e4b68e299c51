#include "app/train_command.h"

#include <memory>

#include "app/commands.h"
#include "app/flags.h"
#include "app/torch_half.h"

namespace tandem::app {
namespace {

std::function<void()> Configure(Flags& flags) {
  const auto options = std::make_shared<TrainOptions>();
  flags.Add("recipe", options->recipe, "The recipe, a TOML file").Required();
  flags.Add("--set", options->sets, "KEY=VALUE over the recipe (repeatable)").OneValueEachTime();
  flags.Add("--output", options->output, "Run folder; wins over the recipe's `output`");
  Flag resume = flags.AddSwitch("--resume", options->resume, "Continue the run in the run folder");
  Flag check = flags
                   .AddSwitch("--check", options->check,
                              "Read everything, train nothing: counts, lengths, memory and time")
                   .Excludes(resume);
  flags
      .AddSwitch(
          "--check-gradient-cache", options->check_gradient_cache,
          "Train nothing: compare the gradient in chunks with the direct one on the first batch")
      .Excludes(resume)
      .Excludes(check);
  flags.AddSwitch("--profile", options->profile,
                  "After the run, print where its steps' time went, by operation");
  flags
      .Add("--profile-steps", options->profile_steps,
           "Make so many steps only, print where their time went, write nothing")
      .Between(1, 1'000'000'000)
      .Excludes(resume)
      .Excludes(check);
  flags.Add("--format", options->format, "Of the profile: text, tsv or json")
      .OneOf({"text", "tsv", "json"})
      .ShowDefault();
  return [options] { RunTrain(*options); };
}

}  // namespace

const Command kTrainCommand{"train", "Train a model as a recipe says", Configure};

}  // namespace tandem::app
