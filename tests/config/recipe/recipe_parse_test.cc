#include "config/recipe/recipe_parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/test_catalogue.h"

namespace tandem::config {
namespace {

TEST(ParseRecipe, TheLeastRecipeHasDefaults) {
  const Recipe recipe = ParseTest(kLeast).recipe;
  EXPECT_EQ(recipe.model.base, "m");
  EXPECT_EQ(recipe.train.epochs, 1.0);
  EXPECT_EQ(recipe.train.steps, std::nullopt);
  EXPECT_EQ(recipe.objective.params.Number("temperature"), 0.02);
  EXPECT_FALSE(recipe.validation.enabled());
}

TEST(ParseRecipe, ReadsTheExampleOfTheDesign) {
  const Recipe recipe = ParseTest(R"(seed = 7
output = "runs/mw"
[model]
base = "models/all-MiniLM-L6-v2"
max_query_tokens = 64
query_prompt = ""
dropout = 0.1
[data]
train = "data/packages"
positive_grade = 2
masks.copies = false
[sampling]
name = "uniform"
[objective]
name = "soft"
temperature = 0.01
[optimizer]
learning_rate = 2e-5
clip = 1
[schedule]
name = "constant"
warmup = "500 steps"
[train]
batch = 32
steps = 1000
[validation]
data = "data/packages"
measure = "mrr"
every = "5%"
)")
                            .recipe;
  EXPECT_EQ(recipe.seed, 7);
  EXPECT_EQ(recipe.model.max_query_tokens, 64);
  EXPECT_EQ(recipe.model.query_prompt, "");
  EXPECT_EQ(recipe.model.document_prompt, std::nullopt);
  EXPECT_EQ(recipe.data.positive_grade, 2.0);
  EXPECT_FALSE(recipe.data.masks.copies);
  EXPECT_TRUE(recipe.data.masks.known_positives);
  EXPECT_EQ(recipe.objective.params.Number("temperature"), 0.01);
  EXPECT_EQ(recipe.schedule.warmup, Quantity::Count(500));
  EXPECT_EQ(recipe.train.steps, 1000);
  EXPECT_EQ(recipe.train.epochs, std::nullopt);
  EXPECT_TRUE(recipe.validation.enabled());
  EXPECT_EQ(recipe.validation.every, Quantity::Percent(5));
}

TEST(ParseRecipe, AScaleOfGrades) {
  const Recipe recipe = ParseTest(kLeast + "data.grade_scale = [1, 5]\n").recipe;
  EXPECT_EQ(recipe.data.grade_scale, (Range{1, 5}));
  const Recipe set = ParseTest(kLeast, {"data.grade_scale=[0, 2.5]"}).recipe;
  EXPECT_EQ(set.data.grade_scale, (Range{0, 2.5}));
  const auto problem = [](const std::string& value) {
    return ParseProblem(kLeast + "data.grade_scale = " + value + "\n");
  };
  EXPECT_EQ(problem("[5, 1]"), "r.toml:4:20: data.grade_scale must rise, found [5.0, 1.0]");
  EXPECT_EQ(problem("[1, 1]"), "r.toml:4:20: data.grade_scale must rise, found [1.0, 1.0]");
  EXPECT_EQ(problem("[1, inf]"), "r.toml:4:20: data.grade_scale must rise, found [1.0, inf]");
  EXPECT_EQ(problem("5"),
            "r.toml:4:20: data.grade_scale must be two numbers [lowest, highest], found integer 5");
  for (const char* array : {"[1]", "[1, 2, 3]", "[\"a\", \"b\"]", "[true, 2]"}) {
    EXPECT_EQ(problem(array),
              "r.toml:4:20: data.grade_scale must be two numbers [lowest, highest], "
              "found array");
  }
  EXPECT_EQ(ParseProblem(kLeast + "data.positive_grade = [1, 5]\n"),
            "r.toml:4:23: data.positive_grade must be a number, found range [1.0, 5.0]");
}

TEST(ParseRecipe, ListsOfNumbers) {
  const auto parsed = ParseTest(kLeast +
                                "model.dimensions = [384, 64, 128]\n"
                                "model.dimension_weights = [1, 0.5, 2e-3]\n");
  EXPECT_EQ(parsed.recipe.model.dimensions, (Integers{384, 64, 128}));
  EXPECT_EQ(parsed.recipe.model.dimension_weights, (Numbers{1, 0.5, 2e-3}));
  EXPECT_EQ(ParseTest(kLeast, {"model.dimensions=[384,128]"}).recipe.model.dimensions,
            (Integers{384, 128}));
  EXPECT_EQ(ParseTest(kLeast, {"model.dimensions=[7]"}).recipe.model.dimensions, Integers{7});
  const auto problem = [](const std::string& value) {
    return ParseProblem(kLeast + "model.dimensions = " + value + "\n");
  };
  const std::string expected =
      "r.toml:4:20: model.dimensions must be a list of integers, as [384, 128], found ";
  EXPECT_EQ(problem("[]"), expected + "an empty list; leave the key out for none");
  EXPECT_EQ(problem("[\"a\"]"), expected + "a list with a text");
  EXPECT_EQ(problem("[[1]]"), expected + "a list with a list");
  EXPECT_EQ(problem("[8, 2.5]"),
            "r.toml:4:20: model.dimensions must be a list of integers, as [384, 128], found list "
            "[8.0, 2.5]");
  EXPECT_EQ(problem("[8, 65537]"),
            "r.toml:4:20: model.dimensions must each be from 1 to 65536 numbers, found 65537");
  EXPECT_EQ(problem("[8, 4, 8]"),
            "r.toml:4:20: model.dimensions names a width twice; give each once");
  EXPECT_EQ(
      ParseProblem(kLeast + "model.dimensions = [8, 4]\nmodel.dimension_weights = [1]\n"),
      "r.toml:5:27: model.dimension_weights has 1 numbers for 2 of model.dimensions; give one "
      "for each");
  EXPECT_EQ(ParseProblem(kLeast + "data.positive_grade = [1, 2, 3]\n"),
            "r.toml:4:23: data.positive_grade must be a number, found array");
}

TEST(ParseRecipe, ListsOfTexts) {
  const auto freeze = [](const std::string& value) {
    return ParseTest(kLeast + "model.freeze = " + value + "\n").recipe.model.freeze;
  };
  EXPECT_EQ(freeze("\"embeddings\""), Strings{"embeddings"});
  EXPECT_EQ(freeze("[\"embeddings\", \"layers.0-2\"]"), (Strings{"embeddings", "layers.0-2"}));
  EXPECT_EQ(freeze("[]"), Strings{});
  const auto set = ParseTest(kLeast + "model.freeze = [\"embeddings\"]\n", {"model.freeze=[]"});
  EXPECT_EQ(set.recipe.model.freeze, Strings{});  // takes the recipe's list back
  for (const auto& [value, found] : {std::pair("[3]", "a list with a number"),
                                     std::pair("[\"a\", true]", "a list with true or false"),
                                     std::pair("[[\"a\"]]", "a list with a list")}) {
    EXPECT_EQ(ParseProblem(kLeast + "model.freeze = " + value + "\n"),
              std::string("r.toml:4:16: model.freeze must be a text, or a list of texts, found ") +
                  found);
  }
}

TEST(ParseRecipe, BinarizingTakesThePositiveGradesPlace) {
  EXPECT_EQ(ParseTest(kLeast + "data.binarize_at = 3\n").recipe.data.positive_grade, 3);
  const std::string both = "data.binarize_at = 3\ndata.positive_grade = 2\n";
  EXPECT_EQ(ParseProblem(kLeast + both),
            "r.toml:5:23: data.positive_grade contradicts data.binarize_at; give one of them");
  const std::string same = "data.binarize_at = 3\ndata.positive_grade = 3\n";
  EXPECT_EQ(ParseProblem(kLeast + same),
            "r.toml:5:23: data.positive_grade does nothing here: it needs a recipe without "
            "data.binarize_at, which takes its place");
  const Recipe lower =
      ParseTest(kLeast + "data.binarize_at = 3\n", {"data.positive_grade=2"}).recipe;
  EXPECT_EQ(lower.data.binarize_at, std::nullopt);
  EXPECT_EQ(lower.data.positive_grade, 2);
  const Recipe over =
      ParseTest(kLeast + "data.positive_grade = 2\n", {"data.binarize_at=3"}).recipe;
  EXPECT_EQ(over.data.binarize_at, 3);
  EXPECT_EQ(over.data.positive_grade, 3);
}

struct Bad {
  const char* text;  // follows kLeast, so that its first line is line 4
  const char* problem;
};

class BadRecipe : public testing::TestWithParam<Bad> {};

TEST_P(BadRecipe, IsNamedWithItsPlace) {
  EXPECT_EQ(ParseProblem(kLeast + GetParam().text), GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadRecipe,
    testing::Values(
        Bad{"  objective.temperatur = 1",
            "r.toml:4:13: objective.temperatur is unknown for the objective soft; did you mean "
            "temperature?"},
        Bad{"trian.batch = 1", "r.toml:4:1: trian is unknown; did you mean train?"},
        Bad{"[train]\n  bacth = 1", "r.toml:5:3: train.bacth is unknown; did you mean batch?"},
        Bad{"[train]\nlearning_rate = 1",
            "r.toml:5:1: train.learning_rate is unknown; did you mean optimizer.learning_rate?"},
        Bad{"train = 3", "r.toml:4:9: train is a table: write [train]"},
        Bad{"[train.batch]", "r.toml:4:1: train.batch must be an integer, found table"},
        Bad{"train.batch = \"many\"",
            "r.toml:4:15: train.batch must be an integer, found string \"many\""},
        Bad{"train.batch = [1]", "r.toml:4:15: train.batch must be an integer, found array"},
        Bad{"train.batch = 0",
            "r.toml:4:15: train.batch must be from 1 to 1048576 queries, found 0"},
        Bad{"objective.temperature = 0",
            "r.toml:4:25: objective.temperature must be from 0.0001 to 10 score units, found 0"},
        Bad{"objective.shape = \"sqare\"",
            "r.toml:4:19: objective.shape must be one of round, square, found \"sqare\"; did you "
            "mean square?"},
        Bad{"schedule.name = \"linaer\"",
            "r.toml:4:17: schedule.name must be one of linear, constant, cyclic, found "
            "\"linaer\"; did you mean linear?"},
        Bad{"schedule.warmup = \"5 miles\"",
            "r.toml:4:19: schedule.warmup must be a share like \"5%\" or a count like \"500 "
            "steps\", found \"5 miles\""},
        Bad{"train.epochs = 1\ntrain.steps = 9",
            "r.toml:5:15: train.steps contradicts train.epochs; give one of them"},
        Bad{"train.steps = 9\ntrain.epochs = 1",
            "r.toml:5:16: train.epochs contradicts train.steps; give one of them"},
        Bad{"validation.data = \"d\"\nvalidation.holdout = \"5%\"",
            "r.toml:5:22: validation.holdout contradicts validation.data; give one of them"},
        Bad{"[validation]",
            "r.toml:4:1: validation needs data (with split), holdout or [[validation.source]]"},
        Bad{"[validation]\nmeasure = \"mrr\"",
            "r.toml:5:11: validation.measure does nothing here: it needs validation.data (with "
            "validation.split), validation.holdout or [[validation.source]]"},
        Bad{"[validation]\nholdout = 5\nevery = 0",
            "r.toml:6:9: validation.every must be more than 0; to validate never, leave out "
            "[validation]"},
        Bad{"seed = nan", "r.toml:4:8: seed must be an integer, found number nan"}));

// The library that reads TOML words what is wrong, differently in each version; the position, and
// the key's name, must be there in all of them.
TEST(ParseRecipe, WhatIsNotTomlIsNamedWithItsPlace) {
  EXPECT_THAT(ParseProblem(kLeast + "model.base = \"again\""),
              testing::AllOf(testing::StartsWith("r.toml:4:14: not valid TOML"),
                             testing::HasSubstr("model.base")));
  EXPECT_THAT(ParseProblem(kLeast + "seed = "), testing::StartsWith("r.toml:4:8: not valid TOML"));
  EXPECT_THAT(ParseProblem(kLeast + "[train\nbatch = 1"),
              testing::StartsWith("r.toml:4:7: not valid TOML"));
}

TEST(ParseRecipe, MissingKeysAreNamed) {
  EXPECT_EQ(ParseProblem(""),
            "r.toml: model.base is missing (sentence-transformers or Hugging Face folder, or a "
            "model of two encoders)");
  EXPECT_EQ(ParseProblem("[model]\n\n[data]\ntrain = 'd'\n[objective]\nname = 'soft'"),
            "r.toml:1:1: model.base is missing (sentence-transformers or Hugging Face folder, or a "
            "model of two encoders)");
  EXPECT_EQ(
      ParseProblem("model.base = 'm'\ndata.train = 'd'"),
      "r.toml: objective.name is missing (which one; `tandem list objectives` says what each is)");
}

TEST(ParseRecipe, AMisspeltKeyIsNamedBeforeTheOneThatItLeavesMissing) {
  EXPECT_EQ(ParseProblem("[model]\nbse = 'm'"),
            "r.toml:2:1: model.bse is unknown; did you mean base?");
}

TEST(ParseRecipe, AnUnknownObjectiveIsNamedAloneAndItsKeysAreLeftInPeace) {
  EXPECT_EQ(
      ParseProblem("model.base = 'm'\ndata.train = 'd'\n[objective]\nscale = 3\nname = 'sft'"),
      "r.toml:5:8: objective.name must be one of soft, plain, taught, found \"sft\"; did you mean "
      "soft?");
}

TEST(ParseRecipe, AParameterOfAnotherObjectiveIsUnknown) {
  EXPECT_EQ(
      ParseProblem("model.base='m'\ndata.train='d'\n[objective]\nname='plain'\ntemperature=1"),
      "r.toml:5:1: objective.temperature is unknown for the objective plain; it is a parameter of "
      "soft");
}

TEST(ParseRecipe, AParameterOfAnotherSamplerIsUnknown) {
  EXPECT_EQ(ParseProblem(kLeast + "[sampling]\nname = 'uniform'\nkeep = 0.5"),
            "r.toml:6:1: sampling.keep is unknown for the sampler uniform; it is a parameter of "
            "pruning");
}

// `--set` has chosen another objective than the file, whose parameters are left over.
TEST(ParseRecipe, ParametersOfTheFilesOwnEntryAreDroppedWhereSetNamesAnother) {
  const std::string file =
      "model.base='m'\ndata.train='d'\n[objective]\nname='soft'\ntemperature=1";
  const LoadedRecipe loaded = ParseTest(file, {"objective.name=plain"});
  EXPECT_EQ(loaded.recipe.objective.name, "plain");
  EXPECT_EQ(
      loaded.left_over,
      (std::vector<std::string>{
          "r.toml:5: objective.temperature is dropped: it is unknown for the objective plain, "
          "which --set objective.name=plain names"}));
  EXPECT_TRUE(ParseTest(file).left_over.empty());
  EXPECT_TRUE(ParseTest(file, {"objective.name=soft"}).left_over.empty());
  // The optimizer that the file does not name.
  const std::string step = kLeast + "optimizer.momentum = 0.5";
  EXPECT_EQ(ParseTest(step, {"optimizer.name=sgd"}).left_over.size(), 1U);
}

TEST(ParseRecipe, OtherUnknownParametersStayErrorsWhereSetNamesAnotherEntry) {
  const std::string file = "model.base='m'\ndata.train='d'\n[objective]\n";
  EXPECT_EQ(ParseProblem(file + "name='soft'\ntemperatur=1", {"objective.name=plain"}),
            "r.toml:5:1: objective.temperatur is unknown for the objective plain");
  // It is no parameter of the entry that the file names, so that the file is wrong by itself.
  EXPECT_EQ(
      ParseProblem(file + "name='plain'\ntemperature=1", {"objective.name=taught"}),
      "r.toml:5:1: objective.temperature is unknown for the objective taught; it is a parameter "
      "of soft");
  EXPECT_EQ(ParseProblem(file + "name='soft'", {"objective.name=plain", "objective.temperature=1"}),
            "--set objective.temperature=1: objective.temperature is unknown for the objective "
            "plain; it is a parameter of soft");
}

TEST(ParseRecipe, AScaleAloneSaysWhatAPositiveIs) {
  const auto grade = [](const std::string& text) {
    return ParseTest(kLeast + text).recipe.data.positive_grade;
  };
  EXPECT_EQ(grade("data.grade_scale = [1, 5]"), 2);
  EXPECT_EQ(grade("data.grade_scale = [3, 3.5]"), 3.5);
  EXPECT_EQ(grade("data.grade_scale = [0, 3]"), 1);
  EXPECT_EQ(grade("data.grade_scale = [-2, 2]"), 1);
  EXPECT_EQ(grade("data.grade_scale = [1, 5]\ndata.positive_grade = 4"), 4);
  EXPECT_EQ(grade("data.grade_scale = [1, 5]\ndata.binarize_at = 3"), 3);
}

TEST(ParseRecipe, TheFirstMistakeInReadingOrderIsNamed) {
  EXPECT_EQ(ParseProblem(kLeast + "train.batch = 0\nseed = 'x'"),
            "r.toml:4:15: train.batch must be from 1 to 1048576 queries, found 0");
  EXPECT_EQ(ParseProblem("seed = 'x'\n" + kLeast + "train.batch = 0"),
            "r.toml:1:8: seed must be an integer, found string \"x\"");
}

TEST(LoadedRecipe, ErrorAtKnowsWhereAKeyWasGiven) {
  const LoadedRecipe loaded =
      ParseTest(kLeast + "[validation]\nholdout = 5\nmeasure = 'x'", {"seed=3"});
  EXPECT_STREQ(loaded.ErrorAt("validation.measure", "is unknown").what(),
               "r.toml:6:11: validation.measure is unknown");
  EXPECT_STREQ(loaded.ErrorAt("seed", "is odd").what(), "--set seed=3: seed is odd");
  EXPECT_STREQ(loaded.ErrorAt("train.batch", "is large").what(), "r.toml: train.batch is large");
  EXPECT_EQ(loaded.ErrorAt("seed", "").key(), "seed");
}

TEST(LoadRecipe, AMissingFileIsADataError) {
  EXPECT_THROW(LoadRecipe("no/such.toml", {}, {}), UsageError);
}

}  // namespace
}  // namespace tandem::config
