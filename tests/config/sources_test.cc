// [[data.source]]: a list of tables in a recipe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/recipe_text.h"
#include "config/test_catalogue.h"

namespace tandem::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kHead = "model.base = \"m\"\nobjective.name = \"soft\"\n";
const std::string kTwo = kHead +
                         "[[data.source]]\n"
                         "path = \"a\"\n"
                         "[[data.source]]\n"
                         "path = \"b.jsonl\"\n"
                         "format = \"tevatron\"\n"
                         "split = \"dev\"\n";

TEST(Sources, AreReadInOrder) {
  const DataRecipe data = ParseTest(kTwo).recipe.data;
  EXPECT_EQ(data.sources,
            (std::vector<SourceRecipe>{{"a", "auto", {}}, {"b.jsonl", "tevatron", "dev"}}));
  EXPECT_THAT(data.paths(), ElementsAre("a", "b.jsonl"));
  EXPECT_THAT(ParseTest(kLeast).recipe.data.paths(), ElementsAre("d"));
}

TEST(Sources, KnowTheirPositions) {
  const LoadedRecipe loaded = ParseTest(kTwo);
  EXPECT_EQ(loaded.ErrorAt("data.source.2.split", "is wrong").what(),
            std::string("r.toml:8:9: data.source.2.split is wrong"));
}

TEST(Sources, MistakesAreNamedWhereTheyAre) {
  EXPECT_EQ(ParseProblem(kTwo + "weight = 2\n"), "r.toml:9:1: data.source.2.weight is unknown");
  EXPECT_EQ(ParseProblem(kTwo + "[[data.source]]\nformat = \"beir\"\n"),
            "r.toml:9:1: data.source.3.path is missing (data set folder or file)");
  EXPECT_EQ(ParseProblem(kTwo + "[[data.source]]\npath = 3\n"),
            "r.toml:10:8: data.source.3.path must be a string, found integer 3");
  EXPECT_THAT(ParseProblem(kTwo + "[[data.source]]\npath = \"c\"\nformat = \"csv\"\n"),
              HasSubstr("r.toml:11:10: data.source.3.format must be one of auto, beir"));
}

TEST(Sources, AreAListOfTables) {
  for (const char* wrong : {"[data.source]\npath = \"a\"\n", "[data]\nsource = \"a\"\n",
                            "[data]\nsource = []\n", "[data]\nsource = [1]\n"}) {
    EXPECT_THAT(ParseProblem(kHead + wrong),
                HasSubstr("data.source is a list of tables: write [[data.source]] over each"))
        << wrong;
  }
}

TEST(Sources, SetChangesAKeyOfOneOfThem) {
  const Recipe recipe = ParseTest(kTwo, {"data.source.2.split=test"}).recipe;
  EXPECT_EQ(recipe.data.sources[1].split, "test");
  EXPECT_EQ(recipe.data.sources[0].split, std::nullopt);
  EXPECT_THAT(ParseProblem(kTwo, {"data.source.3.path=c"}),
              HasSubstr("--set data.source.3.path=c: data.source.3 is unknown"));
  EXPECT_THAT(ParseProblem(kTwo, {"data.source=c"}),
              HasSubstr("--set data.source=c: data.source is a list, which only the recipe's file "
                        "can give; --set data.source.1.KEY=VALUE sets a key of its first table"));
}

TEST(Sources, StandInPlaceOfTheOneDataSet) {
  EXPECT_EQ(ParseProblem(kTwo + "[data]\ntrain = \"d\"\n"),
            "r.toml:10:9: data.train does nothing here: it needs a recipe without [[data.source]], "
            "which names several data sets");
  EXPECT_THAT(ParseProblem(kTwo + "[data]\nsplit = \"dev\"\n"),
              HasSubstr("data.split does nothing"));
  EXPECT_THAT(ParseProblem(kHead), HasSubstr("data.train is missing (data set folder or file)"));
  const Recipe one = ParseTest(kTwo, {"data.train=d"}).recipe;
  EXPECT_TRUE(one.data.sources.empty());
  EXPECT_EQ(one.data.train, "d");
  EXPECT_THAT(ParseProblem(kTwo, {"data.train=d", "data.source.1.path=c"}),
              HasSubstr("--set data.train=d: data.train does nothing here"));
}

TEST(Sources, AreWrittenAsTheyWereRead) {
  const Recipe recipe = ParseTest(kTwo).recipe;
  const std::string text = FormatRecipe(recipe, kTestCatalogues);
  EXPECT_THAT(text, HasSubstr("\n[[data.source]]\npath = \"a\"\nformat = \"auto\"\n\n"
                              "[[data.source]]\npath = \"b.jsonl\"\nformat = \"tevatron\"\n"
                              "split = \"dev\"\n"));
  EXPECT_THAT(text, Not(HasSubstr("train = \"")));
  EXPECT_EQ(ParseTest(text).recipe, recipe);
}

TEST(Sources, ThatWereAddedOrReadOtherwiseAreChanges) {
  const Recipe before = ParseTest(kTwo).recipe;
  const auto changed = [&](const std::string& text, const std::vector<std::string>& sets = {}) {
    return ChangedKeys(before, ParseTest(text, sets).recipe, kTestCatalogues);
  };
  EXPECT_THAT(changed(kTwo), ElementsAre());
  EXPECT_THAT(changed(kTwo, {"data.source.1.path=elsewhere/a"}), ElementsAre());
  EXPECT_THAT(changed(kTwo, {"data.source.2.split=test"}), ElementsAre("data.source.2.split"));
  EXPECT_THAT(changed(kTwo + "[[data.source]]\npath = \"c\"\n"),
              ElementsAre("data.source.3.format", "data.source.3.split"));
}

TEST(Sources, AreDocumentedOnce) {
  std::vector<std::string> paths;
  for (const RecipeKey& key : DocumentedKeys()) {
    if (!key.list.empty()) paths.push_back(key.path());
  }
  EXPECT_THAT(paths, ElementsAre("data.source.path", "data.source.format", "data.source.split"));
  EXPECT_THAT(RecipeReference(kTestCatalogues), HasSubstr("\n## [[data.source]]\n"));
}

}  // namespace
}  // namespace tandem::config
