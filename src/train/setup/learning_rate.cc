#include "train/setup/learning_rate.h"

#include <fmt/format.h>

#include <cmath>

#include "config/recipe/recipe_fields.h"

namespace tandem::train {

std::string ResolveLearningRate(config::LoadedRecipe& loaded) {
  config::OptimizerRecipe& optimizer = loaded.recipe.optimizer;
  if (optimizer.learning_rate_scaling == "none") return "";
  if (!loaded.recipe.train.batch) {
    throw loaded.ErrorAt("optimizer.learning_rate_scaling",
                         "needs train.batch: with train.batch_tokens steps have no fixed number of "
                         "queries; give the rate of this run, and leave this key out");
  }
  const int64_t queries = *loaded.recipe.train.batch * loaded.recipe.train.accumulate;
  const double given = optimizer.learning_rate;
  const double scaled = given * std::sqrt(static_cast<double>(queries) /
                                          static_cast<double>(optimizer.reference_batch));
  const std::string product =
      fmt::format("{} = {} * sqrt({} / {})", scaled, given, queries, optimizer.reference_batch);
  if (scaled > config::kMaxLearningRate) {
    throw loaded.ErrorAt("optimizer.learning_rate",
                         fmt::format("becomes {} by optimizer.learning_rate_scaling; must be at "
                                     "most {}",
                                     product, config::kMaxLearningRate));
  }
  optimizer.learning_rate = scaled;
  optimizer.learning_rate_scaling = "none";
  return fmt::format("the learning rate is {}, for {} queries a step", product, queries);
}

}  // namespace tandem::train
