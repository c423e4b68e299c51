// `--set KEY=VALUE` on top of a recipe.
#include <gtest/gtest.h>

#include "config/test_catalogue.h"

namespace tandem::config {
namespace {

TEST(SetFlag, WinsOverTheFileAndTheLastOneWins) {
  const std::string text = kLeast + "train.batch = 8\n";
  EXPECT_EQ(ParseTest(text).recipe.train.batch, 8);
  EXPECT_EQ(ParseTest(text, {"train.batch=16"}).recipe.train.batch, 16);
  EXPECT_EQ(ParseTest(text, {"train.batch=16", "train.batch=32"}).recipe.train.batch, 32);
}

TEST(SetFlag, TakesTheFilesOtherLimitOfBatchesOutOfUse) {
  const std::string queries = kLeast + "train.batch = 8\n";
  const std::string tokens = kLeast + "train.batch_tokens = 512\n";
  EXPECT_EQ(ParseTest(queries).recipe.train.batch_tokens, std::nullopt);
  EXPECT_EQ(ParseTest(tokens).recipe.train.batch, std::nullopt);
  const TrainRecipe by_tokens = ParseTest(queries, {"train.batch_tokens=512"}).recipe.train;
  EXPECT_EQ(by_tokens.batch, std::nullopt);
  EXPECT_EQ(by_tokens.batch_tokens, 512);
  const TrainRecipe by_queries = ParseTest(tokens, {"train.batch=8"}).recipe.train;
  EXPECT_EQ(by_queries.batch, 8);
  EXPECT_EQ(by_queries.batch_tokens, std::nullopt);
  EXPECT_EQ(ParseProblem(queries + "train.batch_tokens = 512\n"),
            "r.toml:5:22: train.batch_tokens contradicts train.batch; give one of them");
}

TEST(SetFlag, IsTomlElseABareString) {
  const auto output = [](const std::string& set) { return ParseTest(kLeast, {set}).recipe.output; };
  EXPECT_EQ(output("output=runs/mw"), "runs/mw");
  EXPECT_EQ(output("output=\"runs/mw\""), "runs/mw");
  EXPECT_EQ(output("output='a b'"), "a b");
  EXPECT_EQ(output("output="), "");
  EXPECT_EQ(output("output=a=b"), "a=b");
  EXPECT_EQ(output("output=say \"x\" \\ #1"), "say \"x\" \\ #1");
  EXPECT_EQ(ParseTest(kLeast, {"schedule.warmup=500 steps"}).recipe.schedule.warmup,
            Quantity::Count(500));
  EXPECT_EQ(ParseTest(kLeast, {"schedule.warmup=5%"}).recipe.schedule.warmup, Quantity::Percent(5));
  EXPECT_EQ(ParseTest(kLeast, {"optimizer.clip=1"}).recipe.optimizer.clip, 1.0);
}

TEST(SetFlag, LineBreaksCannotSmuggleInAnotherKey) {
  const Recipe recipe = ParseTest(kLeast, {"output=1\nseed = 9"}).recipe;
  EXPECT_EQ(recipe.seed, 1);
  EXPECT_EQ(recipe.output, "1\nseed = 9");
}

TEST(SetFlag, ErrorsNameTheFlag) {
  EXPECT_EQ(ParseProblem(kLeast, {"train.bacth=3"}),
            "--set train.bacth=3: train.bacth is unknown; did you mean batch?");
  EXPECT_EQ(ParseProblem(kLeast, {"train.batch=x"}),
            "--set train.batch=x: train.batch must be an integer, found string \"x\"");
  EXPECT_EQ(ParseProblem(kLeast, {"objective.name=sof"}),
            "--set objective.name=sof: objective.name must be one of soft, plain, taught, found "
            "\"sof\"; did you mean soft?");
  EXPECT_EQ(ParseProblem(kLeast, {"train.batch"}),
            "--set train.batch: must be KEY=VALUE, like train.batch=32");
  EXPECT_EQ(ParseProblem(kLeast, {"=3"}), "--set =3: must be KEY=VALUE, like train.batch=32");
  EXPECT_EQ(ParseProblem(kLeast, {"a b=3"}), "--set a b=3: must be KEY=VALUE, like train.batch=32");
  EXPECT_EQ(ParseProblem(kLeast, {"train=3"}), "--set train=3: train is a table: write [train]");
}

TEST(SetFlag, WinsWhereItExcludesAKeyOfTheFile) {
  const Recipe steps = ParseTest(kLeast + "train.epochs = 2", {"train.steps=9"}).recipe;
  EXPECT_EQ(steps.train.steps, 9);
  EXPECT_EQ(steps.train.epochs, std::nullopt);
  const Recipe epochs = ParseTest(kLeast + "train.steps = 9", {"train.epochs=2"}).recipe;
  EXPECT_EQ(epochs.train.steps, std::nullopt);
  EXPECT_EQ(epochs.train.epochs, 2.0);
  EXPECT_EQ(ParseProblem(kLeast, {"train.steps=9", "train.epochs=2"}),
            "--set train.epochs=2: train.epochs contradicts train.steps; give one of them");
}

}  // namespace
}  // namespace tandem::config
