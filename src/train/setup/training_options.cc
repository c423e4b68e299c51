#include "train/setup/training_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tandem::train {

model::TrainingOptions TrainingOptionsOf(const config::Recipe& recipe) {
  const config::ModelRecipe& model = recipe.model;
  const config::LoraRecipe& lora = recipe.lora;
  model::TrainingOptions options{.freeze = model.freeze,
                                 .lora = {.rank = lora.rank,
                                          .alpha = lora.alpha,
                                          .dropout = lora.dropout,
                                          .rank_stabilized = lora.rslora,
                                          .targets = lora.target_modules},
                                 .adapter = model.adapter.value_or("")};
  if (model.train == "lora") options.what = model::Trained::kLora;
  if (model.train == "head") options.what = model::Trained::kHead;
  return options;
}

std::string TrainedText(model::DualEncoder& model, const config::Recipe& recipe) {
  int64_t trained = 0, all = 0;
  for (const model::NamedParameter& parameter : model.Parameters()) {
    all += parameter.value.numel();
    if (parameter.trained()) trained += parameter.value.numel();
  }
  if (trained == all) return "";
  const std::string frozen =
      recipe.model.freeze.empty()
          ? ""
          : fmt::format(", model.freeze = {}", fmt::join(recipe.model.freeze, ", "));
  return fmt::format("training {} of {} parameters (model.train = {}{})", trained, all,
                     recipe.model.train, frozen);
}

}  // namespace tandem::train
