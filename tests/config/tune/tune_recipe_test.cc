#include "config/tune/tune_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/test_catalogue.h"

namespace tandem::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The least recipe, on lines 1 to 3, and [tune] from line 4 on.
LoadedTune Parse(const std::string& tune, const std::vector<std::string>& sets = {},
                 const std::string& more = "") {
  return ParseTune(kLeast + more + tune, "r.toml", sets, kTestCatalogues);
}

void ExpectMistake(const std::string& tune, const std::string& message) {
  try {
    Parse(tune);
  } catch (const RecipeError& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
    return;
  }
  ADD_FAILURE() << "no error in " << tune;
}

std::string TextOf(const LoadedTune& tune, Assignment assignment) {
  return MakeTrialRecipe(tune, "trial", &assignment).text;
}

TEST(ParseTune, ReadsListsAndRangesOfAnyKey) {
  const TuneRecipe tune = Parse(R"([tune]
optimizer.learning_rate = { from = 1e-6, to = 1e-4, log = true }
objective.temperature = [0.01, 1]
train.batch = { from = 8, to = 64 }
schedule.warmup = ["5%", 20]
[tune.model]
freeze = [["embeddings"], []]
)")
                              .tune;
  ASSERT_EQ(tune.keys.size(), 5U);
  EXPECT_EQ(tune.keys[0].path, "model.freeze");
  EXPECT_THAT(tune.keys[0].values, ElementsAre("[\"embeddings\"]", "[]"));
  EXPECT_EQ(tune.keys[1].path, "objective.temperature");
  EXPECT_THAT(tune.keys[1].values, ElementsAre("0.01", "1.0"));
  EXPECT_EQ(tune.keys[2].path, "optimizer.learning_rate");
  EXPECT_EQ(tune.keys[2].range, (Range{1e-6, 1e-4}));
  EXPECT_TRUE(tune.keys[2].logarithmic);
  EXPECT_FALSE(tune.keys[2].whole);
  EXPECT_THAT(tune.keys[3].values, ElementsAre("\"5%\"", "20"));
  EXPECT_TRUE(tune.keys[4].whole);
  EXPECT_FALSE(tune.keys[4].logarithmic);
}

TEST(ParseTune, ItsOwnKeysHaveDefaults) {
  const TuneRecipe none = Parse("").tune;
  EXPECT_TRUE(none.keys.empty());
  EXPECT_EQ(none.rungs, 3);
  EXPECT_EQ(none.keep_split, "test");
  EXPECT_FALSE(none.retrain);
  EXPECT_FALSE(none.soup);
  const TuneRecipe tune = Parse(
                              "[tune]\nkeep = [\"a\"]\nmost_loss = 0.01\naverage = [0.5]\nsoup = "
                              "false\n")
                              .tune;
  EXPECT_THAT(tune.keep, ElementsAre("a"));
  EXPECT_EQ(tune.most_loss, 0.01);
  EXPECT_THAT(tune.average, ElementsAre(0.5));
  EXPECT_EQ(tune.soup, false);
}

TEST(ParseTune, EveryMistakeHasItsPlace) {
  ExpectMistake("[tune]\noptimizer.learning_rat = [1e-5]\n",
                "r.toml:5:26: tune.optimizer.learning_rat is unknown: no recipe of this search has "
                "it; did you mean optimizer.learning_rate?");
  ExpectMistake("[tune]\ntrain.batch = []\n", "r.toml:5:15: tune.train.batch has no value");
  ExpectMistake("[tune]\ntrain.batch = [8, 0]\n",
                "r.toml:5:19: tune.train.batch has a value that must be from 1 to");
  ExpectMistake("[tune]\ntrain.batch = [8, \"x\"]\n", "r.toml:5:19: tune.train.batch has a value");
  ExpectMistake("[tune]\ntrain.batch = [8, 8]\n",
                "r.toml:5:19: tune.train.batch has the value 8 "
                "twice");
  ExpectMistake("[tune]\ntrain.batch = 8\n", "r.toml:5:15: tune.train.batch must be a list");
  ExpectMistake("[tune]\ntrain.batch = { from = 8, to = 8 }\n", "the first must be below");
  ExpectMistake("[tune]\ntrain.batch = { from = 8 }\n", "is a range without `to`");
  ExpectMistake("[tune]\ntrain.batch = { from = 8, to = 9, step = 1 }\n", "whose step is unknown");
  ExpectMistake("[tune]\noptimizer.clip = { from = 0, to = 9, log = true }\n", "above 0");
  ExpectMistake("[tune]\nmodel.towers = { from = 1, to = 2 }\n", "is no number");
  ExpectMistake("[tune]\nobjective.name = [\"soft\", \"sof\"]\n",
                "r.toml:5:27: tune.objective.name has sof is unknown");
  ExpectMistake("[tune]\naverage = [1]\n", "r.toml:5:11: tune.average has 1");
  ExpectMistake("[tune]\nsoup = true\nretrain = true\n",
                "r.toml:5:8: tune.soup is the mean of several trials, and tune.retrain trains one");
  ExpectMistake("[tune]\nretrian = true\n", "did you mean retrain?");
  ExpectMistake("[tune]\ntrain.epochs = [1, 2]\ntrain.steps = [9, 18]\n",
                "r.toml:6:15: tune.train.steps cannot be searched beside tune.train.epochs");
  ExpectMistake("[tune]\nmost_loss = 0.1\n", "needs tune.keep");
  ExpectMistake("tune = 1\n", "r.toml:4:8: tune is a table: write [tune]");
  ExpectMistake("[[tune]]\ntrain.batch = [8]\n", ": tune is a table: write [tune]");
  ExpectMistake("[tune]\noptimizer = [1]\n",
                "r.toml:5:13: tune.optimizer is a table of recipes; name one of its keys, like "
                "tune.optimizer.name");
  ExpectMistake("[tune]\nvalidation = [1]\n",
                "a table of recipes, in which no key can be searched");
}

TEST(ParseTune, KeysThatCannotBeSearchedSayWhy) {
  ExpectMistake("[tune]\nseed = [1, 2]\n", "r.toml:5:8: tune.seed cannot be searched: the seed");
  ExpectMistake("[tune]\nvalidation.measure = [\"mrr\"]\n", "compared by the same measure");
  ExpectMistake("[tune]\nmodel.base = [\"a\"]\n", "the same for all trials");
  ExpectMistake("[tune]\ndata.positive_grade = [1, 2]\n", "what the data mean");
  ExpectMistake("[tune]\nlogging.every = [1]\n", "how a run is computed or kept");
  ExpectMistake("[tune]\noutput = [\"x\"]\n", "how a run is computed or kept");
}

// `tandem train` reads the same file.
TEST(ParseTune, TrainLeavesTheTableAlone) {
  EXPECT_EQ(ParseTest(kLeast + "[tune]\nwhatever = [1]\n").recipe, ParseTest(kLeast).recipe);
}

TEST(MakeTrialRecipe, SetsTheValuesAndChecksThem) {
  const LoadedTune tune = Parse("[tune]\ntrain.batch = [8, 16]\n");
  Assignment assignment = {{"optimizer.learning_rate", "1e-05"}, {"train.batch", "8"}};
  const LoadedRecipe trial = MakeTrialRecipe(tune, "trial", &assignment);
  EXPECT_EQ(trial.recipe.train.batch, 8);
  EXPECT_EQ(trial.recipe.optimizer.learning_rate, 1e-5);
  EXPECT_EQ(trial.recipe.model.base, "m");
  EXPECT_THAT(trial.text, Not(HasSubstr("tune")));
  EXPECT_EQ(assignment.size(), 2U);
  EXPECT_THROW(TextOf(tune, {{"train.batch", "0"}}), RecipeError);
}

TEST(MakeTrialRecipe, KeysThatTheDrawnEntryLacksAreLeftOut) {
  const LoadedTune tune = Parse(
      "[tune]\nobjective.name = [\"soft\", \"plain\"]\n"
      "objective.temperature = [0.1]\n",
      {}, "objective.count = 4\n");
  Assignment plain = {{"objective.name", "\"plain\""}, {"objective.temperature", "0.1"}};
  EXPECT_EQ(MakeTrialRecipe(tune, "trial", &plain).recipe.objective.name, "plain");
  EXPECT_EQ(plain, (Assignment{{"objective.name", "\"plain\""}}));
  Assignment soft = {{"objective.name", "\"soft\""}, {"objective.temperature", "0.1"}};
  const Recipe recipe = MakeTrialRecipe(tune, "trial", &soft).recipe;
  EXPECT_EQ(recipe.objective.params.Number("temperature"), 0.1);
  EXPECT_EQ(recipe.objective.params.Integer("count"), 4);
  EXPECT_EQ(soft.size(), 2U);
}

TEST(MakeTrialRecipe, KeysThatDoNothingAreLeftOut) {
  const LoadedTune tune = Parse("[tune]\nmodel.train = [\"all\", \"lora\"]\nlora.rank = [4, 8]\n");
  Assignment all = {{"lora.rank", "4"}, {"model.train", "\"all\""}};
  MakeTrialRecipe(tune, "trial", &all);
  EXPECT_EQ(all, (Assignment{{"model.train", "\"all\""}}));
  Assignment lora = {{"lora.rank", "4"}, {"model.train", "\"lora\""}};
  EXPECT_EQ(MakeTrialRecipe(tune, "trial", &lora).recipe.lora.rank, 4);
}

TEST(MakeTrialRecipe, OneOfTwoKeysTakesThePlaceOfTheOther) {
  const LoadedTune tune =
      Parse("[tune]\ntrain.batch_tokens = [900]\n", {}, "train.batch = 9\ntrain.steps = 9\n");
  Assignment assignment = {{"train.batch_tokens", "900"}};
  const Recipe recipe = MakeTrialRecipe(tune, "trial", &assignment).recipe;
  EXPECT_EQ(recipe.train.batch_tokens, 900);
  EXPECT_FALSE(recipe.train.batch);
}

TEST(MakeTrialRecipe, KeepsWhatSetGave) {
  const LoadedTune tune =
      Parse("", {"train.steps=7", "objective.count=5"}, "objective.count = 4\ntrain.epochs = 3\n");
  Assignment none;
  const Recipe recipe = MakeTrialRecipe(tune, "trial", &none).recipe;
  EXPECT_EQ(recipe, tune.recipe.recipe);
  EXPECT_EQ(recipe.train.steps, 7);
  EXPECT_EQ(recipe.objective.params.Integer("count"), 5);
}

// The text that a trial's recipe has reads back to the recipe that it was made of.
TEST(MakeTrialRecipe, TheTextHasEveryKindOfValue) {
  const LoadedTune tune = ParseTune(R"(seed = 7
model.base = "a \"b\"\nc"
model.freeze = ["embeddings"]
objective.name = "soft"
objective.temperature = 0.05
[data]
mixture = "weight"
grade_scale = [0, 3]
masks.copies = false
[[data.source]]
path = "one"
weight = 0.1
[[data.source]]
path = "two"
[schedule]
warmup = "5%"
)",
                                    "r.toml", {}, kTestCatalogues);
  Assignment none;
  const LoadedRecipe trial = MakeTrialRecipe(tune, "trial", &none);
  EXPECT_EQ(trial.recipe, tune.recipe.recipe);
  EXPECT_THAT(trial.text, HasSubstr("temperature = 0.05\n"));
  EXPECT_THAT(trial.text, HasSubstr("\n[[data.source]]\npath = \"one\"\nweight = 0.1\n"));
}

TEST(MakeTrialRecipe, AnEmptyValueTakesAKeyOut) {
  const LoadedTune tune = Parse("", {}, "train.steps = 9\noptimizer.clip = 2\n");
  Assignment assignment = {{"optimizer.clip", ""}};
  const LoadedRecipe trial = MakeTrialRecipe(tune, "trial", &assignment);
  EXPECT_EQ(trial.recipe.optimizer.clip, 1.0);
  EXPECT_TRUE(assignment.empty());
}

TEST(MakeRetrainingRecipe, ValidationDataAreTrainedOn) {
  const LoadedTune tune = Parse(
      "", {}, "validation.data = \"v\"\nvalidation.measure = \"mrr\"\ndata.split = \"some\"\n");
  Assignment none;
  const Recipe recipe = MakeRetrainingRecipe(tune, "again", &none).recipe;
  EXPECT_FALSE(recipe.validation.enabled());
  ASSERT_EQ(recipe.data.sources.size(), 2U);
  EXPECT_EQ(recipe.data.sources[0].path, "d");
  EXPECT_EQ(recipe.data.sources[0].split, "some");
  EXPECT_EQ(recipe.data.sources[1].path, "v");
  EXPECT_EQ(recipe.data.sources[1].split, "dev");
}

TEST(MakeRetrainingRecipe, HeldOutQueriesAreTrainedOn) {
  const LoadedTune tune = Parse("", {}, "validation.holdout = \"10%\"\n");
  Assignment none;
  const Recipe recipe = MakeRetrainingRecipe(tune, "again", &none).recipe;
  EXPECT_FALSE(recipe.validation.enabled());
  EXPECT_EQ(recipe.data.train, "d");
}

}  // namespace
}  // namespace tandem::config
