#include "app/train_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.h"
#include "app/torch_half.h"

namespace tandem::app {
namespace {

std::function<void()> Configure(CLI::App& app) {
  const auto options = std::make_shared<TrainOptions>();
  app.add_option("recipe", options->recipe, "The recipe, a TOML file")->required();
  app.add_option("--set", options->sets, "KEY=VALUE over the recipe (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--output", options->output, "Run folder; wins over the recipe's `output`");
  CLI::Option* resume =
      app.add_flag("--resume", options->resume, "Continue the run in the run folder");
  CLI::Option* check =
      app.add_flag("--check", options->check,
                   "Read everything, train nothing: counts, lengths, memory and time")
          ->excludes(resume);
  app.add_flag(
         "--check-gradient-cache", options->check_gradient_cache,
         "Train nothing: compare the gradient in chunks with the direct one on the first batch")
      ->excludes(resume)
      ->excludes(check);
  app.add_flag("--profile", options->profile,
               "After the run, print where its steps' time went, by operation");
  app.add_option("--profile-steps", options->profile_steps,
                 "Make so many steps only, print where their time went, write nothing")
      ->check(CLI::Range(1, 1'000'000'000))
      ->excludes(resume)
      ->excludes(check);
  app.add_option("--format", options->format, "Of the profile: text, tsv or json")
      ->check(CLI::IsMember({"text", "tsv", "json"}))
      ->capture_default_str();
  return [options] { RunTrain(*options); };
}

}  // namespace

const Command kTrainCommand{"train", "Train a model as a recipe says", Configure};

}  // namespace tandem::app
