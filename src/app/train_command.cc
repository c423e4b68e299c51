#include "app/train_command.h"

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
  app.add_flag("--check", options->check,
               "Read everything, train nothing: counts, lengths, memory and time")
      ->excludes(resume);
  return [options] { RunTrain(*options); };
}

}  // namespace

const Command kTrainCommand{"train", "Train a model as a recipe says", Configure};

}  // namespace tandem::app
