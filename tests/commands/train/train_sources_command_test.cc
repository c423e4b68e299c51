// `tandem train` on several data sets: mixtures, prompts, resumption, what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

// A graded folder of 48 queries, and 12 binary lines that carry a prompt.
class SourcesCommand : public RunTest {
 protected:
  SourcesCommand()
      : RunTest(R"(
seed = 3
threads = 1
precision = "fp32"
[objective]
name = "bixse"
[model]
base = "{0}/base"
query_prompt = "alpha "
[data]
mixture = "weight"
grade_scale = [0, 2]
negatives = 1
[[data.source]]
path = "{0}/data"
weight = 1
[[data.source]]
path = "{0}/lines.jsonl"
weight = 3
task = "lines"
document_prompt = "delta "
[optimizer]
learning_rate = 1e-3
[train]
batch = 5
epochs = 3
checkpoint_every = "6 steps"
keep_checkpoints = 100
[validation]
holdout = 8
measure = "ndcg@10"
every = "9 steps"
patience = 0
[logging]
every = 3
)") {
    std::string lines;
    for (int q = 0; q < 12; ++q) {
      lines += fmt::format(
          "{{\"query\": \"alpha {0} beta\", \"pos\": [\"beta {0}\"], \"neg\": [\"gamma {0}\"], "
          "\"prompt\": \"gamma \"}}\n",
          q);
    }
    WriteFileAtomically(Path("lines.jsonl"), lines);
  }
};

TEST_F(SourcesCommand, TrainsOnGradedAndBinarySetsByWeightAndSaysSo) {
  const ProgramResult run = Train("run");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("data: 25 % of an epoch, about 13 of 52 draws, of "));
  EXPECT_THAT(run.err, HasSubstr("lines.jsonl: 75 % of an epoch, about 39 of 52 draws, of "));
  EXPECT_THAT(run.err, HasSubstr("lines.jsonl: query prompt \"gamma \"\n"));
  EXPECT_THAT(run.err, HasSubstr("lines.jsonl: document prompt \"delta \"\n"));
  EXPECT_THAT(run.err, Not(HasSubstr("is saved with")));
  // The model keeps the fall-back.
  const auto config =
      nlohmann::json::parse(ReadFile(Path("run/model/config_sentence_transformers.json")));
  EXPECT_EQ(config.at("prompts").at("query"), "alpha ");
  EXPECT_THAT(ReadFile(Path("run/recipe.resolved.toml")),
              HasSubstr("path = \"lines.jsonl\"\nformat = \"auto\"\nweight = 3.0\ntask = "
                        "\"lines\"\ndocument_prompt = \"delta \"\n"));
  EXPECT_EQ(Train("run", {"--resume"}).exit_code, 0);
  const ProgramResult other = Train("run", {"--resume", "--set", "data.source.2.weight=2"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("data.source.2.weight"));
}

TEST_F(SourcesCommand, EveryMixtureAndSamplerGoesOnFromEveryCheckpoint) {
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"data.mixture=round_robin", "data.source.1.split=train"},
      {"data.mixture=size"},
      {"sampling.name=static_pruning", "sampling.keep=0.5"},
      {"sampling.name=dynamic_pruning", "sampling.update_interval=2"},
      {"sampling.name=infobatch", "data.mixture=round_robin"}};
  int number = 0;
  for (const auto& sets : cases) {
    const std::string output = fmt::format("run{}", number++);
    const std::vector<std::string> flags = SetFlags(sets);
    const ProgramResult whole = Train(output, flags);
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    ExpectTheSameFromEveryCheckpoint(output, flags);
  }
}

// Prompts of the recipe train the same as texts that have them written in.
TEST_F(SourcesCommand, PromptsTrainAsIfTheyWereWritten) {
  const auto write = [&](const std::string& query, const std::string& document) {
    std::string lines;
    for (int q = 0; q < 12; ++q) {
      lines += fmt::format("{{\"query\": \"{1}alpha {0}\", \"pos\": [\"{2}beta {0}\"]}}\n", q,
                           query, document);
    }
    WriteFileAtomically(Path("lines.jsonl"), lines);
  };
  const std::vector<std::string> common = {
      "model.query_prompt=",     "data.source.1.path=" + Path("lines.jsonl"),
      "objective.name=infonce",  "data.mixture=size",
      "data.negatives=0",        "data.source.2.path=" + Path("other.jsonl"),
      "validation.measure=loss", "validation.holdout=2"};
  std::string others;
  for (int q = 0; q < 6; ++q) {
    others += fmt::format("{{\"query\": \"beta gamma {0}\", \"pos\": [\"alpha {0}\"]}}\n", q);
  }
  WriteFileAtomically(Path("other.jsonl"), others);
  const auto train = [&](const std::string& output, std::vector<std::string> sets) {
    sets.insert(sets.end(), common.begin(), common.end());
    const ProgramResult run = Train(output, SetFlags(sets));
    ASSERT_EQ(run.exit_code, 0) << run.err;
  };
  write("", "");
  train("by_recipe", {"data.source.1.query_prompt=gamma ", "data.source.1.document_prompt=delta ",
                      "data.source.2.document_prompt="});
  write("gamma ", "delta ");
  train("by_hand", {"data.source.2.document_prompt="});
  write("", "");
  train("without", {"data.source.2.document_prompt="});
  EXPECT_EQ(ReadFile(Path("by_recipe/model/model.safetensors")),
            ReadFile(Path("by_hand/model/model.safetensors")));
  EXPECT_EQ(MetricOf("by_recipe", "loss"), MetricOf("by_hand", "loss"));
  EXPECT_NE(MetricOf("by_recipe", "loss"), MetricOf("without", "loss"));
}

TEST_F(SourcesCommand, RefusesWhatItCannotMix) {
  const auto error_of = [this](int exit_code, const std::vector<std::string>& sets) {
    const ProgramResult result = Train("none", SetFlags(sets));
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_FALSE(std::filesystem::exists(Path("none")));
    return result.err;
  };
  EXPECT_THAT(error_of(2, {"data.source.2.weight=-1"}),
              HasSubstr("data.source.2.weight must be from 0 to 1000000000, found -1"));
  EXPECT_THAT(error_of(2, {"data.source.2.weight=inf"}), HasSubstr("must be finite"));
  EXPECT_THAT(error_of(2, {"data.source.1.weight=0", "data.source.2.weight=0"}),
              HasSubstr("data.source.1.weight is 0 like all other weights"));
  EXPECT_THAT(error_of(2, {"data.mixture=round_robin", "data.source.1.weight=2"}),
              HasSubstr("data.source.1.weight does nothing here: it needs data.mixture = "
                        "\"weight\""));
  EXPECT_THAT(error_of(2, {"data.train=" + Path("data"), "data.mixture=weight"}),
              HasSubstr("data.mixture does nothing here: it needs several [[data.source]]"));
  EXPECT_THAT(error_of(2, {"data.source.1.task=lines", "data.source.1.document_prompt=other "}),
              HasSubstr("of the same task \"lines\""));
  WriteFileAtomically(Path("unknown.jsonl"), "{\"text\": \"alpha\"}\n");
  EXPECT_THAT(error_of(3, {"data.source.2.path=" + Path("unknown.jsonl")}),
              HasSubstr("unknown.jsonl:1: "));
  // A source whose queries have no positive.
  WriteFileAtomically(Path("related.jsonl"),
                      "{\"anchor\": \"alpha\", \"positive\": \"beta\", \"score\": 0.5}\n");
  EXPECT_THAT(error_of(3, {"data.source.2.path=" + Path("related.jsonl"), "objective.name=infonce",
                           "data.scores=grades", "data.positive_grade=2"}),
              HasSubstr("related.jsonl"));
}

}  // namespace
}  // namespace tandem
