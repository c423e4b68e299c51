#include "tune/space/default_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "eval/measure.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"
#include "sampling/catalogue.h"
#include "tune/space/space.h"

namespace tandem::tune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::span<const config::Catalogue> RealCatalogues() {
  static const std::vector<config::Catalogue> all = {
      sampling::SamplerCatalogue(), objective::ObjectiveCatalogue(), optim::OptimizerCatalogue(),
      optim::ScheduleCatalogue(), eval::MeasureCatalogue()};
  return all;
}

config::LoadedTune LoadedFor(const DataKind& kind, const std::string& more = "") {
  const std::string objective = kind.taught ? "kl_distillation" : "infonce";
  config::LoadedTune tune = config::ParseTune(
      "model.base = \"m\"\ndata.train = \"d\"\nobjective.name = \"" + objective + "\"\n" + more,
      "r.toml", {}, RealCatalogues());
  tune.tune.keys = DefaultKeys(tune.recipe.recipe, kind);
  return tune;
}

std::vector<std::string> PathsOf(const config::LoadedTune& tune) {
  std::vector<std::string> paths;
  for (const config::SearchKey& key : tune.tune.keys) paths.push_back(key.path);
  return paths;
}

const std::vector<DataKind> kKinds = {
    {.queries = 100, .documents = 100},
    {.negatives = true, .queries = 100, .documents = 100},
    {.graded = true, .negatives = true, .queries = 9000, .documents = 9000},
    {.taught = true, .queries = 9000, .documents = 9000},
    {.queries = 9000, .documents = 9000}};

// Each value of each key makes a recipe that is valid, alone and beside others.
TEST(DefaultSpace, EveryDrawIsAValidRecipe) {
  for (const DataKind& kind : kKinds) {
    const config::LoadedTune tune = LoadedFor(kind);
    const std::vector<Assignment> drawn = DrawConfigurations(tune, 1, 300);
    EXPECT_GT(drawn.size(), 100U) << KindText(kind);
    for (const config::SearchKey& key : tune.tune.keys) {
      for (const std::string& value : key.values) {
        Assignment alone = {{key.path, value}};
        EXPECT_NO_THROW(MakeTrialRecipe(tune, "trial", &alone)) << key.path << " = " << value;
      }
    }
  }
}

TEST(DefaultSpace, IsThatOfTheKindOfData) {
  EXPECT_THAT(PathsOf(LoadedFor(kKinds[0])),
              ElementsAre("model.train", "objective.name", "objective.temperature",
                          "optimizer.learning_rate", "train.epochs"));
  EXPECT_THAT(PathsOf(LoadedFor(kKinds[1])), Contains("data.negatives"));
  EXPECT_THAT(PathsOf(LoadedFor(kKinds[2])), Contains("objective.scale"));
  EXPECT_THAT(PathsOf(LoadedFor(kKinds[3])), Not(Contains("mining.every")));
  for (const char* path : {"mining.every", "mining.range", "sampling.name", "sampling.keep"}) {
    EXPECT_THAT(PathsOf(LoadedFor(kKinds[4])), Contains(path));
  }
}

// A recipe that says how long it is, or what is trained, means it.
TEST(DefaultSpace, LeavesOutWhatTheRecipeSays) {
  const auto paths =
      PathsOf(LoadedFor(kKinds[4],
                        "train.steps = 10\nmodel.train = \"lora\"\n"
                        "mining.every = \"50%\"\nsampling.name = \"random_pruning\"\n"));
  EXPECT_THAT(paths,
              ElementsAre("objective.name", "objective.temperature", "optimizer.learning_rate"));
}

TEST(DefaultSpace, MiningIsOffInSomeConfigurationsAndOnInOthers) {
  const config::LoadedTune tune = LoadedFor(kKinds[4]);
  int on = 0, off = 0;
  for (Assignment values : DrawConfigurations(tune, 1, 100)) {
    const config::Recipe recipe = MakeTrialRecipe(tune, "trial", &values).recipe;
    ++(recipe.mining.enabled() ? on : off);
  }
  EXPECT_GT(on, 20);
  EXPECT_GT(off, 20);
}

TEST(DefaultSpace, TheKindIsThatOfTheJudgements) {
  train::RunData data;
  data::TrainingQuery query;
  query.positives = {{.document = 0, .grade = 1}};
  data.set.examples = {query};
  data.training = {0};
  config::Recipe recipe;
  EXPECT_EQ(KindText(KindOf(recipe, data, false)), "pairs");
  data.set.examples[0].others = {{.document = 1, .grade = 0}};
  EXPECT_EQ(KindText(KindOf(recipe, data, false)), "pairs with judged negatives");
  EXPECT_EQ(KindText(KindOf(recipe, data, true)), "a teacher's scores");
  data.set.examples[0].others.push_back({.document = 2, .grade = 0.5});
  EXPECT_EQ(KindText(KindOf(recipe, data, false)), "graded judgements");
  data.set.examples[0].others.push_back({.document = 3, .grade = 2});  // on no scale
  EXPECT_EQ(KindText(KindOf(recipe, data, false)), "pairs with judged negatives");
  recipe.data.grade_scale = config::Range{0, 2};
  EXPECT_EQ(KindText(KindOf(recipe, data, false)), "graded judgements");
}

}  // namespace
}  // namespace tandem::tune
