// [[data.source]]: a list of tables in a recipe.
#include "config/recipe/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/recipe/recipe_text.h"
#include "config/test_catalogue.h"

namespace tandem::config {
namespace {

using testing::Contains;
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
            (std::vector<SourceRecipe>{{.path = "a"},
                                       {.path = "b.jsonl", .format = "tevatron", .split = "dev"}}));
  EXPECT_THAT(data.paths(), ElementsAre("a", "b.jsonl"));
  EXPECT_THAT(ParseTest(kLeast).recipe.data.paths(), ElementsAre("d"));
}

TEST(Sources, KnowTheirPositions) {
  const LoadedRecipe loaded = ParseTest(kTwo);
  EXPECT_EQ(loaded.ErrorAt("data.source.2.split", "is wrong").what(),
            std::string("r.toml:8:9: data.source.2.split is wrong"));
}

TEST(Sources, MistakesAreNamedWhereTheyAre) {
  EXPECT_EQ(ParseProblem(kTwo + "wieght = 2\n"),
            "r.toml:9:1: data.source.2.wieght is unknown; did you mean weight?");
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
  EXPECT_THAT(text, Not(HasSubstr("[data]\ntrain = \"")));
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
  EXPECT_THAT(changed(kTwo + "[[data.source]]\npath = \"c\"\n"), Contains("data.source.3.format"));
  EXPECT_THAT(changed(kTwo, {"data.source.2.task=t"}), ElementsAre("data.source.2.task"));
  EXPECT_THAT(changed(kTwo, {"data.source.2.query_prompt=q: "}),
              ElementsAre("data.source.2.query_prompt"));
  EXPECT_THAT(changed(kTwo, {"data.mixture=round_robin"}), ElementsAre("data.mixture"));
}

const std::string kWeighed = kHead +
                             "data.mixture = \"weight\"\n"
                             "[[data.source]]\n"
                             "path = \"a\"\n"
                             "weight = 3\n"
                             "[[data.source]]\n"
                             "path = \"b\"\n";

TEST(Sources, HaveWeightsWhereTheMixtureGoesByThem) {
  const DataRecipe data = ParseTest(kWeighed).recipe.data;
  EXPECT_EQ(data.mixture, "weight");
  EXPECT_EQ(data.sources[0].weight, 3);
  EXPECT_EQ(data.sources[1].weight, 1);
  EXPECT_EQ(ParseProblem(kWeighed, {"data.source.2.weight=0"}), "");
  EXPECT_EQ(ParseProblem(kWeighed + "weight = -1\n"),
            "r.toml:9:10: data.source.2.weight must be from 0 to 1000000000, found -1");
  EXPECT_EQ(ParseProblem(kWeighed + "weight = nan\n"),
            "r.toml:9:10: data.source.2.weight must be finite, found number nan");
  EXPECT_EQ(ParseProblem(kWeighed, {"data.source.1.weight=0", "data.source.2.weight=0"}),
            "--set data.source.1.weight=0: data.source.1.weight is 0 like all other weights; at "
            "least one must be more");
  EXPECT_EQ(ParseProblem(kTwo + "weight = 2\n"),
            "r.toml:9:10: data.source.2.weight does nothing here: it needs data.mixture = "
            "\"weight\"");
  EXPECT_EQ(ParseProblem(kHead + "data.mixture = \"round_robin\"\n[[data.source]]\npath = "
                                 "\"a\"\n"),
            "r.toml:3:16: data.mixture does nothing here: it needs several [[data.source]]");
  EXPECT_THAT(ParseProblem(kTwo, {"data.mixture=wieght"}), HasSubstr("did you mean weight?"));
}

std::vector<SourceRecipe> Tasks(const std::vector<std::string>& names) {
  std::vector<SourceRecipe> sources;
  for (const std::string& name : names) {
    sources.push_back({.path = "p"});
    if (!name.empty()) sources.back().task = name;
  }
  return sources;
}

TEST(Sources, OfOneNameAreOneTask) {
  EXPECT_THAT(TasksOfSources(Tasks({"a", "", "b", "a", "", "b"})), ElementsAre(0, 1, 2, 0, 3, 2));
  EXPECT_THAT(TasksOfSources({}), ElementsAre());
}

TEST(Sources, OfATaskShareItsPrompts) {
  std::vector<SourceRecipe> sources = Tasks({"a", "b", "a", ""});
  sources[2].query_prompt = "find: ";
  sources[1].document_prompt = "";
  EXPECT_EQ(QueryPromptOf(sources, 0), "find: ");
  EXPECT_EQ(QueryPromptOf(sources, 1), std::nullopt);
  EXPECT_EQ(QueryPromptOf(sources, 2), "find: ");
  EXPECT_EQ(QueryPromptOf(sources, 3), std::nullopt);
  EXPECT_EQ(DocumentPromptOf(sources, 1), "");
  EXPECT_EQ(DocumentPromptOf(sources, 0), std::nullopt);
}

TEST(Sources, OfATaskDoNotContradictEachOther) {
  const std::string text = kHead +
                           "[[data.source]]\npath = \"a\"\ntask = \"t\"\nquery_prompt = \"x\"\n"
                           "[[data.source]]\npath = \"b\"\ntask = \"t\"\n";
  EXPECT_EQ(ParseProblem(text + "query_prompt = \"x\"\n"), "");
  EXPECT_EQ(
      ParseProblem(text + "query_prompt = \"y\"\n"),
      "r.toml:10:16: data.source.2.query_prompt is \"y\", but data.source.1, of the same task "
      "\"t\", has \"x\"; the sources of a task have one prompt: give the same, or another "
      "task");
  EXPECT_EQ(ParseProblem(text + "document_prompt = \"y\"\n"), "");
}

TEST(Sources, AreDocumentedOnce) {
  std::vector<std::string> paths;
  for (const RecipeKey& key : DocumentedKeys()) {
    if (!key.list.empty()) paths.push_back(key.path());
  }
  EXPECT_THAT(
      paths,
      ElementsAre("data.source.path", "data.source.format", "data.source.split",
                  "data.source.weight", "data.source.task", "data.source.query_prompt",
                  "data.source.document_prompt", "validation.source.path",
                  "validation.source.split", "validation.source.queries", "validation.source.pool",
                  "validation.source.query_prompt", "validation.source.document_prompt"));
  EXPECT_THAT(RecipeReference(kTestCatalogues), HasSubstr("\n## [[data.source]]\n"));
  EXPECT_THAT(RecipeReference(kTestCatalogues), HasSubstr("\n## [[validation.source]]\n"));
}

const std::string kValidated = kLeast +
                               "[[validation.source]]\n"
                               "path = \"beir/a/\"\n"
                               "queries = 256\n"
                               "pool = 131072\n"
                               "[[validation.source]]\n"
                               "path = \"b\"\n"
                               "split = \"test\"\n";

TEST(ValidationSources, AreReadAndTurnValidationOn) {
  const ValidationRecipe validation =
      ParseTest(kValidated + "[validation]\nmeasure = \"map\"\n").recipe.validation;
  EXPECT_EQ(validation.sources,
            (std::vector<ValidationSourceRecipe>{
                {.path = "beir/a/", .split = {}, .queries = 256, .pool = 131072},
                {.path = "b", .split = "test"}}));
  EXPECT_TRUE(validation.ranks());
  const Recipe recipe = ParseTest(kValidated).recipe;
  EXPECT_EQ(ParseTest(FormatRecipe(recipe, kTestCatalogues)).recipe, recipe);
}

TEST(ValidationSources, ExcludeTheOneDataSetAndTheLoss) {
  EXPECT_EQ(ParseProblem(kValidated + "[validation]\ndata = \"v\"\n"),
            "r.toml:12:8: validation.data contradicts validation.source; give one of them");
  EXPECT_EQ(ParseProblem("validation.holdout = 5\n" + kLeast + "[[validation.source]]\npath = 'a'"),
            "r.toml:5:1: validation.source contradicts validation.holdout; give one of them");
  EXPECT_THAT(ParseProblem(kValidated + "[validation]\nmeasure = \"loss\"\n"),
              HasSubstr("r.toml:12:11: validation.measure is \"loss\", which data sets of "
                        "[[validation.source]] are not measured by"));
  EXPECT_THAT(ParseProblem(kValidated + "[validation]\npool = 5\n"),
              HasSubstr("r.toml:12:8: validation.pool does nothing here: it needs"));
  EXPECT_EQ(ParseProblem(kValidated + "queries = 0\n"),
            "r.toml:11:11: validation.source.2.queries must be from 1 to 4294967295 queries, found "
            "0");
  EXPECT_EQ(ParseProblem(kLeast + "[[validation.source]]\nsplit = 'a'\n"),
            "r.toml:4:1: validation.source.1.path is missing (data set folder or file)");
}

TEST(ValidationSources, SetTakesTheFilesListOutOfUse) {
  const ValidationRecipe validation =
      ParseTest(kValidated, {"validation.data=v"}).recipe.validation;
  EXPECT_TRUE(validation.sources.empty());
  EXPECT_EQ(validation.data, "v");
  EXPECT_EQ(
      ParseTest(kValidated, {"validation.source.2.queries=7"}).recipe.validation.sources[1].queries,
      7);
}

TEST(ValidationSources, HaveNamesThatTellThemApart) {
  const auto names = [](const std::vector<std::pair<std::string, std::string>>& paths) {
    std::vector<ValidationSourceRecipe> sources;
    for (const auto& [path, split] : paths) {
      sources.push_back({.path = path});
      if (!split.empty()) sources.back().split = split;
    }
    return NamesOf(sources);
  };
  EXPECT_THAT(names({{"beir/a/", ""}, {"b", "test"}}), ElementsAre("a", "b"));
  EXPECT_THAT(names({{"x/a", ""}, {"y/a", "test"}, {"b", ""}}),
              ElementsAre("a/dev", "a/test", "b"));
  EXPECT_THAT(names({{"x/a", ""}, {"y/a", ""}}), ElementsAre("a/1", "a/2"));
}

}  // namespace
}  // namespace tandem::config
