// The first stage of a run: no file of these recipes exists.
#include "train/setup/resolved_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/process/threads.h"
#include "eval/measure.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"
#include "sampling/catalogue.h"

namespace tandem::train {
namespace {

using testing::HasSubstr;

config::LoadedRecipe RecipeWith(const std::string& more) {
  static const std::vector<config::Catalogue> catalogues = {
      sampling::SamplerCatalogue(), objective::ObjectiveCatalogue(), optim::OptimizerCatalogue(),
      optim::ScheduleCatalogue(), eval::MeasureCatalogue()};
  return config::ParseRecipe(
      "device = \"cpu\"\n[model]\nbase = \"nowhere\"\n[data]\ntrain = \"nowhere\"\n"
      "negatives = 2\n[objective]\nname = \"infonce\"\n[train]\nsteps = 1\n" +
          more,
      "r.toml", {}, catalogues);
}

TEST(ResolveRun, WritesWhatTheMachineDecidesIntoTheRecipe) {
  const auto alone = dist::ProcessGroup::Alone();
  const ResolvedRun run = ResolveRun(
      RecipeWith(
          "batch = 64\n[optimizer]\nlearning_rate = 1e-5\nlearning_rate_scaling = \"sqrt_batch\"\n"
          "reference_batch = 16\n"),
      alone.get());
  EXPECT_EQ(run.threads, UsableThreads());
  EXPECT_EQ(run.recipe().threads, run.threads);
  EXPECT_EQ(run.recipe().device, "cpu");
  EXPECT_TRUE(run.device.is_cpu());
  EXPECT_EQ(run.recipe().precision, tensor::PrecisionName(run.precision));
  EXPECT_DOUBLE_EQ(run.recipe().optimizer.learning_rate, 2e-5);
  EXPECT_EQ(run.recipe().optimizer.learning_rate_scaling, "none");
  EXPECT_THAT(run.learning_rate_note, HasSubstr("sqrt(64 / 16)"));
  EXPECT_EQ(run.group, nullptr);
}

TEST(ResolveRun, SaysWhichPrecisionAutoIs) {
  const ResolvedRun chosen = ResolveRun(RecipeWith("batch = 2\n"), nullptr);
  EXPECT_THAT(chosen.precision_note,
              testing::StartsWith(fmt::format("precision {}: ", chosen.recipe().precision)));
  config::LoadedRecipe given = RecipeWith("batch = 2\n");
  given.recipe.precision = "fp32";
  EXPECT_EQ(ResolveRun(std::move(given), nullptr).precision_note, "");
}

TEST(ResolveRun, RefusesKeysBeforeAnythingIsRead) {
  const std::vector<std::pair<std::string, std::string>> broken = {
      {"batch = 8\n[validation]\nholdout = \"10%\"\nmeasure = \"best\"\n",
       "validation.measure is no measure"},
      {"batch = 8\n[mining]\nevery = \"10%\"\nrange = \"9:3\"\n", "mining.range must be FIRST:END"},
      {"batch_tokens = 90\n[optimizer]\nlearning_rate_scaling = \"sqrt_batch\"\nreference_batch = "
       "16\n",
       "learning_rate_scaling needs train.batch"}};
  for (const auto& [keys, problem] : broken) {
    try {
      ResolveRun(RecipeWith(keys), nullptr);
      FAIL() << keys;
    } catch (const RecipeError& error) {
      EXPECT_THAT(error.what(), HasSubstr(problem));
    }
  }
}

}  // namespace
}  // namespace tandem::train
