// Every catalogue that recipes name entries of is read by the same mechanism: an entry's parameters
// are recipe keys, in the resolved recipe and in the reference, whichever catalogue it is of.
#include "config/catalogue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "config/recipe/recipe_text.h"
#include "config/test_catalogue.h"

namespace tandem::config {
namespace {

struct Own {
  const char* table;
  const char* entry;
  const char* param;
  const char* value;  // not the default
  const char* other;  // an entry without the parameter
};

class OwnParameter : public testing::TestWithParam<Own> {};
INSTANTIATE_TEST_SUITE_P(EveryCatalogue, OwnParameter,
                         testing::Values(Own{"sampling", "pruning", "keep", "0.75", "uniform"},
                                         Own{"objective", "soft", "temperature", "0.5", "plain"},
                                         Own{"optimizer", "adamw", "momentum", "0.5", "sgd"},
                                         Own{"schedule", "cyclic", "cycles", "7", "linear"}),
                         [](const auto& test) { return std::string(test.param.table); });

TEST_P(OwnParameter, IsARecipeKeyOfItsEntryAlone) {
  const auto& [table, entry, param, value, other] = GetParam();
  const std::string key = fmt::format("{}.{}", table, param);
  const std::string name = fmt::format("{}.name={}", table, entry);
  const Recipe recipe = ParseTest(kLeast, {name, key + "=" + value}).recipe;
  const std::string text = FormatRecipe(recipe, kTestCatalogues);
  EXPECT_NE(text.find(fmt::format("[{}]\nname = \"{}\"\n", table, entry)), std::string::npos);
  EXPECT_NE(text.find(fmt::format("\n{} = {}\n", param, value)), std::string::npos) << text;
  EXPECT_EQ(ParseTest(text).recipe, recipe);
  EXPECT_EQ(ChangedKeys(ParseTest(kLeast, {name}).recipe, recipe, kTestCatalogues),
            std::vector<std::string>{key});
  // Out of range, misspelt, and of another entry.
  EXPECT_NE(ParseProblem(kLeast, {name, key + "=-3"}).find(key + " must be from "),
            std::string::npos);
  EXPECT_NE(ParseProblem(kLeast, {name, key + "x=1"}).find(fmt::format("did you mean {}?", param)),
            std::string::npos);
  const std::string wrong =
      ParseProblem(kLeast, {fmt::format("{}.name={}", table, other), key + "=" + value});
  EXPECT_NE(wrong.find(fmt::format("{} is unknown for the ", key)), std::string::npos) << wrong;
}

TEST_P(OwnParameter, StandsInTheReference) {
  const auto& [table, entry, param, value, other] = GetParam();
  const std::string page = RecipeReference(kTestCatalogues);
  const size_t section = page.find(fmt::format("\n## [{}] name = \"{}\"\n", table, entry));
  ASSERT_NE(section, std::string::npos);
  EXPECT_NE(page.find(fmt::format("| `{}` |", param), section), std::string::npos);
  EXPECT_EQ(page.find(fmt::format("\n## [{}] name = \"{}\"\n", table, other)), std::string::npos)
      << "it has no parameters";
}

TEST_P(OwnParameter, TheNameIsOneOfTheCatalogue) {
  const auto& [table, entry, param, value, other] = GetParam();
  const Catalogue* catalogue = FindCatalogue(kTestCatalogues, table);
  ASSERT_NE(catalogue, nullptr);
  const std::string problem = ParseProblem(kLeast, {fmt::format("{}.name=nobody", table)});
  for (const EntryInfo* one : catalogue->entries) {
    EXPECT_NE(problem.find(one->name), std::string::npos) << problem;
  }
}

TEST(Catalogue, OneWithoutATableIsNoTableOfRecipes) {
  EXPECT_EQ(FindCatalogue(kTestCatalogues, ""), nullptr);
  EXPECT_EQ(FindCatalogue(kTestCatalogues, "measures"), nullptr);
}

}  // namespace
}  // namespace tandem::config
