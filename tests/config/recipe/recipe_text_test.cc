#include "config/recipe/recipe_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "config/test_catalogue.h"

namespace tandem::config {
namespace {

TEST(FormatRecipe, OfDefaultsReadsBackToTheSameRecipe) {
  const Recipe recipe = ParseTest(kLeast).recipe;
  const std::string text = FormatRecipe(recipe, kTestCatalogues);
  EXPECT_EQ(ParseTest(text).recipe, recipe) << text;
}

// Draws any text that a recipe can hold: Unicode scalar values with line breaks and quotes.
rc::Gen<std::string> AnyText() {
  const auto character = rc::gen::weightedOneOf<std::string>(
      {{8, rc::gen::map(rc::gen::inRange<char>(1, 127), [](char c) { return std::string(1, c); })},
       {1,
        rc::gen::elementOf(std::vector<std::string>{"é", "語", "😀", "\"\"\"", "\\u0041", "'"})}});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(character),
                      [](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const std::string& part : parts) text += part;
                        return text;
                      });
}

double AnyNumber(double low, double high) {
  const auto part = *rc::gen::inRange<int64_t>(0, int64_t{1} << 53);
  return low + (high - low) * (static_cast<double>(part) / 9007199254740992.0);
}

Quantity AnyQuantity() {
  return *rc::gen::arbitrary<bool>() ? Quantity::Percent(AnyNumber(0.001, 100))
                                     : Quantity::Count(*rc::gen::inRange<int64_t>(1, 1 << 30));
}

Recipe AnyRecipe() {
  Recipe recipe = ParseTest(kLeast).recipe;
  recipe.seed = *rc::gen::inRange<int64_t>(0, int64_t{1} << 62);
  recipe.output = *AnyText();
  recipe.model.base = *AnyText();
  if (*rc::gen::arbitrary<bool>()) recipe.model.query_prompt = *AnyText();
  const auto widths = *rc::gen::inRange<int64_t>(0, 4);
  for (int64_t i = 1; i <= widths; ++i) {
    recipe.model.dimensions.push_back(65536 - 7 * i);
    recipe.model.dimension_weights.push_back(AnyNumber(1e-6, 1e6));
  }
  recipe.data.positive_grade = AnyNumber(-3, 3);
  const auto sources = *rc::gen::inRange(0, 3);
  if (sources > 0) recipe.data.train.clear();
  for (int i = 0; i < sources; ++i) {
    recipe.data.sources.push_back({.path = *AnyText(), .format = "beir"});
    if (*rc::gen::arbitrary<bool>()) recipe.data.sources.back().split = *AnyText();
  }
  recipe.sampling.no_duplicates = *rc::gen::element<std::string>("true", "false", "mask");
  if (!recipe.sampling.keeps_copies_apart())
    recipe.data.masks.same_query = *rc::gen::arbitrary<bool>();
  recipe.objective.params.Set("temperature", AnyNumber(1e-4, 10));
  if (*rc::gen::arbitrary<bool>()) recipe.objective.params.Set("bias", AnyNumber(-100, 100));
  recipe.optimizer.learning_rate = AnyNumber(0, 1e-3);
  recipe.optimizer.params.Set("momentum", AnyNumber(0, 1));
  recipe.schedule.warmup = AnyQuantity();
  if (*rc::gen::arbitrary<bool>()) {
    recipe.train.epochs.reset();
    recipe.train.steps = *rc::gen::inRange<int64_t>(1, 1 << 30);
  }
  if (*rc::gen::arbitrary<bool>()) {
    recipe.validation.holdout = AnyQuantity();
    recipe.validation.every = AnyQuantity();
    recipe.validation.measure = *AnyText();
  }
  return recipe;
}

RC_GTEST_PROP(FormatRecipe, ReadsBackToTheSameRecipe, ()) {
  const Recipe recipe = AnyRecipe();
  const std::string text = FormatRecipe(recipe, kTestCatalogues);
  RC_ASSERT(ParseTest(text).recipe == recipe);
  RC_ASSERT(FormatRecipe(ParseTest(text).recipe, kTestCatalogues) == text);
}

std::vector<std::string> Changed(const Recipe& before, const Recipe& after) {
  return ChangedKeys(before, after, kTestCatalogues);
}

TEST(ChangedKeys, NamesWhatAResumedRunMayNotChange) {
  const Recipe before = ParseTest(kLeast).recipe;
  EXPECT_TRUE(Changed(before, before).empty());
  const Recipe free = ParseTest(kLeast, {"output=x", "logging.every=3", "model.base=y"}).recipe;
  EXPECT_TRUE(Changed(before, free).empty());
  const Recipe fixed =
      ParseTest(kLeast, {"train.batch=3", "objective.temperature=1", "output=x"}).recipe;
  EXPECT_EQ(Changed(before, fixed),
            (std::vector<std::string>{"objective.temperature", "train.batch"}));
  const Recipe other = ParseTest(kLeast, {"objective.name=plain"}).recipe;
  EXPECT_EQ(Changed(before, other), std::vector<std::string>{"objective.name"});
}

TEST(RecipeReference, NamesEveryKeyWithItsDefault) {
  const std::string page = RecipeReference(kTestCatalogues);
  for (const RecipeKey& key : RecipeKeys(ParseTest(kLeast).recipe)) {
    EXPECT_NE(page.find("| `" + std::string(key.info.name) + "` |"), std::string::npos)
        << key.path();
  }
  EXPECT_NE(page.find("| `batch` | integer from 1 to 1048576 queries | `64` | queries in a batch; "
                      "transformers: `per_device_train_batch_size` |"),
            std::string::npos);
  EXPECT_NE(page.find("| `temperature` | number from 0.0001 to 10 score units | `0.02` |"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem::config
