// `tandem train` with pooling, prompts of tasks and widths of its own, and the commands that use
// the model that it writes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"
#include "embeddings/layouts/npy.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;
using json = nlohmann::json;

class TrainHeads : public RunTest {
 protected:
  TrainHeads()
      : RunTest(R"(threads = 1
precision = "fp32"
[objective]
name = "infonce"
[model]
base = "{0}/base"
query_prompt = "alpha beta "
[data]
positive_grade = 2
negatives = 1
[[data.source]]
path = "{0}/data"
task = "games"
query_prompt = "Instruct: fast game\nQuery: "
document_prompt = "slow "
[optimizer]
learning_rate = 1e-2
[train]
batch = 8
steps = 4
checkpoint_every = "2 steps"
keep_checkpoints = 9
)") {
    WriteFileAtomically(Path("texts.jsonl"), R"({"_id": "1", "text": "red photo"})"
                                             "\n"
                                             R"({"_id": "2", "text": "music"})"
                                             "\n");
  }
  json Read(const std::string& name) const { return json::parse(ReadFile(Path(name))); }
  embeddings::MappedRows Encoded(const std::string& model,
                                 const std::vector<std::string>& further) const {
    std::vector<std::string> arguments = {
        "encode",   "--model",    Path(model), "--input", Path("texts.jsonl"),
        "--output", Path("rows"), "--force",   "--kind",  "query"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    const ProgramResult result = RunTandem(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return embeddings::ReadNpy(Path("rows") + "/embeddings.npy");
  }
  static std::vector<float> Values(const embeddings::MappedRows& matrix) {
    return {matrix.values.begin(), matrix.values.end()};
  }
  void ExpectProblem(const std::vector<std::string>& sets, const std::string& text) const {
    const ProgramResult result = Train("broken", SetFlags(sets));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
  }
};

TEST_F(TrainHeads, PoolingIsTrainedAndSaved) {
  const std::vector<std::string> flags =
      SetFlags({"model.pooling=lasttoken", "model.include_prompt=false"});
  const ProgramResult run = Train("run", flags);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json pooling = Read("run/model/1_Pooling/config.json");
  EXPECT_EQ(pooling["pooling_mode_lasttoken"], true);
  EXPECT_EQ(pooling["pooling_mode_mean_tokens"], false);
  EXPECT_EQ(pooling["include_prompt"], false);
  EXPECT_THAT(RunTandem({"inspect", Path("run/model")}).out,
              HasSubstr("Pooling     lasttoken, without the prompt's tokens"));
  EXPECT_THAT(ReadFile(Path("run/recipe.resolved.toml")),
              HasSubstr("pooling = \"lasttoken\"\ninclude_prompt = false\n"));
  ExpectTheSameFromEveryCheckpoint("run", flags);
  Train("mean");
  EXPECT_NE(ReadFile(Path("mean/metrics.jsonl")), ReadFile(Path("run/metrics.jsonl")));
}

TEST_F(TrainHeads, PromptsOfTasksAreSavedAndChosen) {
  ASSERT_EQ(Train("run").exit_code, 0);
  EXPECT_EQ(Read("run/model/config_sentence_transformers.json")["prompts"],
            json::parse(R"({"query": "alpha beta ", "document": "",
                            "games": "Instruct: fast game\nQuery: ", "games_document": "slow "})"));
  EXPECT_THAT(RunTandem({"inspect", Path("run/model")}).out,
              HasSubstr(R"(games Instruct: fast game\nQuery: , games document slow )"));
  const auto own = Values(Encoded("run/model", {}));
  const auto named = Values(Encoded("run/model", {"--prompt", "games"}));
  EXPECT_NE(own, named);
  EXPECT_EQ(Values(Encoded("run/model", {"--prompt", R"(Instruct: fast game\nQuery: )"})), named);
  EXPECT_EQ(Values(Encoded("run/model", {"--prompt", "query"})), own);
  const ProgramResult wrong =
      RunTandem({"encode", "--model", Path("run/model"), "--input", Path("texts.jsonl"), "--output",
                 Path("rows"), "--force", "--prompt", "gamse"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("has no prompt named gamse; it has document, games, "
                                   "games_document, query; did you mean games?"));
}

TEST_F(TrainHeads, SearchAndEvaluateTakeAPrompt) {
  ASSERT_EQ(Train("run").exit_code, 0);
  const auto search = [&](const std::vector<std::string>& further) {
    std::vector<std::string> arguments = {"search",    "--model",    Path("run/model"),
                                          "--dataset", Path("data"), "--query",
                                          "red photo", "--format",   "json"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    const ProgramResult result = RunTandem(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    if (!further.empty()) {
      EXPECT_THAT(result.err,
                  HasSubstr(R"(the prompt of queries is "Instruct: fast game\nQuery: ")"));
    }
    return result.out;
  };
  EXPECT_NE(search({}), search({"--prompt", "games"}));
  const auto evaluate = [&](const std::vector<std::string>& further) {
    std::vector<std::string> arguments = {
        "evaluate",   "--model", Path("run/model"), "--dataset", Path("data"), "--split", "dev",
        "--measures", "auc",     "--format",        "json"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    const ProgramResult result = RunTandem(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const std::string own = evaluate({});
  EXPECT_NE(evaluate({"--prompt", "games"}), own);
  EXPECT_NE(evaluate({"--dimensions", "2"}), own);
  EXPECT_EQ(evaluate({"--dimensions", "32"}), own);
}

TEST_F(TrainHeads, WidthsAreTrainedAndUsed) {
  const std::vector<std::string> flags =
      SetFlags({"model.dimensions=[8, 32]", "model.dimension_weights=[0.5, 1]"});
  const ProgramResult run = Train("run", flags);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(ReadFile(Path("run/recipe.resolved.toml")),
              HasSubstr("dimensions = [8, 32]\ndimension_weights = [0.5, 1.0]\n"));
  EXPECT_FALSE(Read("run/model/config_sentence_transformers.json").contains("truncate_dim"));
  ExpectTheSameFromEveryCheckpoint("run", flags);
  const embeddings::MappedRows whole = Encoded("run/model", {}),
                               cut = Encoded("run/model", {"--dimensions", "8"});
  EXPECT_EQ(whole.columns, 32U);
  EXPECT_EQ(cut.columns, 8U);
  EXPECT_NEAR(cut.values[0] / cut.values[1], whole.values[0] / whole.values[1], 1e-4);
  const ProgramResult plain = Train("plain");
  EXPECT_NE(MetricOf("run", "loss").front(), MetricOf("plain", "loss").front());
}

TEST_F(TrainHeads, WhatIsNotTrainedIsCutFromTheModel) {
  const ProgramResult run = Train("run", SetFlags({"model.dimensions=[16, 8]"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("numbers 17 to 32 of embeddings are not trained"));
  EXPECT_EQ(Read("run/model/config_sentence_transformers.json")["truncate_dim"], 16);
  EXPECT_THAT(RunTandem({"inspect", Path("run/model")}).out, HasSubstr("truncate dim        16\n"));
  EXPECT_EQ(Encoded("run/model", {}).columns, 16U);
  EXPECT_EQ(Encoded("run/model", {"--dimensions", "0"}).columns, 32U);
}

TEST_F(TrainHeads, MistakesNameTheirKey) {
  ExpectProblem({"model.pooling=lasttokn"},
                "model.pooling must be one of cls, max, mean, mean_sqrt_len_tokens, weightedmean, "
                "lasttoken, found \"lasttokn\"; did you mean lasttoken?");
  ExpectProblem({"model.include_prompt=maybe"},
                "model.include_prompt must be true or false, found string \"maybe\"");
  ExpectProblem({"model.dimensions=8"},
                "model.dimensions must be a list of integers, as [384, 128], found integer 8");
  ExpectProblem({"model.dimensions=[8, 2.5]"}, "model.dimensions must be a list of integers");
  ExpectProblem({"model.dimensions=[8, 0]"},
                "model.dimensions must each be from 1 to 65536 numbers, found 0");
  ExpectProblem({"model.dimensions=[8, 4, 8]"}, "model.dimensions names a width twice");
  ExpectProblem({"model.dimensions=[8, 64]"}, "model.dimensions names 64, but embeddings of");
  ExpectProblem({"model.dimensions=[8, 4]", "model.dimension_weights=[1]"},
                "model.dimension_weights has 1 numbers for 2 of model.dimensions");
  ExpectProblem({"model.dimensions=[8, 4]", "model.dimension_weights=[1, 0]"},
                "model.dimension_weights must each be from 1e-06 to 1000000, found 0.0");
  ExpectProblem({"model.dimension_weights=[1]"},
                "model.dimension_weights does nothing here: it needs model.dimensions");
  ExpectProblem({"data.source.1.task=query"},
                "data.source.1.task is \"query\", under which the model saves its own prompt");
  std::string wide = ReadFile(Path("recipe.toml"));
  wide.insert(wide.find("[data]"), "dimensions = [64]\n");
  WriteFileAtomically(Path("recipe.toml"), wide);
  const ProgramResult result = Train("broken");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("recipe.toml:8:14: model.dimensions names 64"));
}

// A prompt that leaves no room for the text.
TEST_F(TrainHeads, TextsThatAreCutInsideTheirPromptAreReported) {
  const ProgramResult run =
      Train("run", SetFlags({"model.include_prompt=false", "model.max_query_tokens=3"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  // [CLS], one token of the prompt and [SEP], which is left to pool: as sentence-transformers has
  // it, nothing to warn of.
  EXPECT_THAT(
      run.err,
      HasSubstr("queries are longer than 3 tokens and are cut there, as model.max_query_tokens"));
  EXPECT_THAT(run.err, Not(HasSubstr("cut inside their prompt")));
}

}  // namespace
}  // namespace tandem
