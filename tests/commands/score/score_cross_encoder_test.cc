// `tandem score` with a cross-encoder, as a user runs it; and what other commands say of one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "commands/score/score_fixture.h"
#include "model/encoders/formula_cross_encoder.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

// A cross-encoder in place of the model: the one of the golden numbers.
class ScoreByCrossEncoder : public ScoreCommand {
 protected:
  ScoreByCrossEncoder() {
    std::filesystem::remove_all(Path("model"));
    WriteCrossEncoder(Path("model"), CrossEncoderCase("bert"), "bert.");
    std::string lines;  // the golden pairs whose texts are not empty
    for (size_t i = 0; i < CrossEncoderGolden()["pairs"].size(); ++i) {
      const nlohmann::json& pair = CrossEncoderGolden()["pairs"][i];
      if (pair[0] == "" || pair[1] == "") continue;
      lines += nlohmann::json{{"query", pair[0]}, {"pos", {pair[1]}}, {"neg", {"alpha"}}}.dump();
      lines += "\n";
      logits_.push_back(CrossEncoderCase("bert")["logits"][i][0]);
      scores_.push_back(CrossEncoderCase("bert")["scores"][i][0]);
    }
    WriteFileAtomically(Path("pairs.jsonl"), lines);
  }
  // The scores of the positives.
  std::vector<double> PositivesOf(const std::string& name) const {
    std::vector<double> scores;
    for (const data::JudgedQuery& query : Read(name).judged) {
      for (const data::Judgement& judgement : query.judgements) {
        if (judgement.grade > 0) scores.push_back(judgement.score);
      }
    }
    return scores;
  }
  void ExpectNear(const std::vector<double>& got, const std::vector<double>& want,
                  double tolerance) const {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << i;
  }

  std::vector<double> logits_, scores_;  // of CrossEncoder.predict
};

TEST_F(ScoreByCrossEncoder, TeachesByLogitsAndGradesByProbabilities) {
  const ProgramResult teacher = Score("teacher", {}, "teacher.jsonl", "pairs.jsonl");
  ASSERT_EQ(teacher.exit_code, 0) << teacher.err;
  EXPECT_THAT(teacher.out, HasSubstr("score               logit\n"));
  EXPECT_THAT(teacher.err, HasSubstr("1 of 11 pairs are longer than 40 tokens and were cut there"));
  EXPECT_THAT(teacher.err, Not(HasSubstr("mean pooling")));
  ExpectNear(PositivesOf("teacher.jsonl"), logits_, 1e-5);
  const ProgramResult grades = Score("grades", {}, "grades.jsonl", "pairs.jsonl");
  ASSERT_EQ(grades.exit_code, 0) << grades.err;
  EXPECT_THAT(grades.out, HasSubstr("score               1 / (1 + exp(-logit))\n"));
  ExpectNear(PositivesOf("grades.jsonl"), scores_, 1e-5);
  EXPECT_FALSE(std::filesystem::exists(Path("cache")));  // there are no embeddings
}

TEST_F(ScoreByCrossEncoder, TakesThePrecision) {
  const ProgramResult in_bf16 =
      Score("teacher", {"--precision", "bf16"}, "bf16.jsonl", "pairs.jsonl");
  if (RefusesBf16(in_bf16)) GTEST_SKIP() << "no fast bf16 here";
  ASSERT_EQ(in_bf16.exit_code, 0) << in_bf16.err;
  ExpectNear(PositivesOf("bf16.jsonl"), logits_, 0.05);
  double worst = 0;
  const std::vector<double> rounded = PositivesOf("bf16.jsonl");
  for (size_t i = 0; i < rounded.size(); ++i) {
    worst = std::max(worst, std::abs(rounded[i] - logits_[i]));
  }
  EXPECT_GT(worst, 1e-5);
}

TEST_F(ScoreByCrossEncoder, TakesTheLength) {
  const ProgramResult cut =
      Score("teacher", {"--max-pair-tokens", "6"}, "cut.jsonl", "pairs.jsonl");
  ASSERT_EQ(cut.exit_code, 0) << cut.err;
  EXPECT_THAT(cut.err, HasSubstr("pairs are longer than 6 tokens and were cut there"));
}

TEST_F(ScoreByCrossEncoder, LabelsAreChosen) {
  WriteCrossEncoder(Path("model"), CrossEncoderCase("bert_three_labels"), "bert.");
  const ProgramResult none = Score("teacher", {}, "none.jsonl", "pairs.jsonl");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr(Path("model") +
                                  ": has 3 labels (contradiction, entailment, neutral), and a pair "
                                  "gets one score: give --label with one of them"));
  const ProgramResult wrong = Score("teacher", {"--label", "yes"}, "none.jsonl", "pairs.jsonl");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--label is yes; " + Path("model") +
                                   " has contradiction, entailment, neutral"));
  EXPECT_FALSE(std::filesystem::exists(Path("none.jsonl")));
  const ProgramResult one = Score("grades", {"--label", "entailment"}, "one.jsonl", "pairs.jsonl");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out,
              HasSubstr("score               softmax of the logits, of label entailment\n"));
}

TEST_F(ScoreByCrossEncoder, FlagsOfTheOtherKindAreRefused) {
  const ProgramResult lengths =
      Score("teacher", {"--max-query-tokens", "8"}, "none.jsonl", "pairs.jsonl");
  EXPECT_EQ(lengths.exit_code, 2);
  EXPECT_THAT(lengths.err,
              HasSubstr(" is a cross-encoder, which reads query and document together: give "
                        "--max-pair-tokens in place of --max-query-tokens and "
                        "--max-document-tokens"));
  const ProgramResult cut = Score("teacher", {"--dimensions", "8"}, "none.jsonl", "pairs.jsonl");
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_THAT(cut.err, HasSubstr("makes no embeddings that --dimensions could cut"));
  WriteTinyModel(Path("bi"));
  for (const std::vector<std::string>& flag :
       {std::vector<std::string>{"--max-pair-tokens", "8"}, {"--label", "x"}}) {
    const ProgramResult refused =
        RunTandem({"score", "--model", Path("bi"), "--pairs", Path("pairs.jsonl"), "--as",
                   "teacher", "--output", Path("none.jsonl"), flag[0], flag[1]});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err,
                HasSubstr(flag[0] + " needs a cross-encoder, and " + Path("bi") + " is none"));
  }
}

TEST_F(ScoreByCrossEncoder, OtherCommandsSayWhatItIs) {
  WriteFileAtomically(Path("recipe.toml"),
                      fmt::format("[objective]\nname = \"infonce\"\n[model]\nbase = "
                                  "\"{}\"\n[data]\ntrain = \"{}\"\n[train]\nbatch = "
                                  "8\nsteps = 3\n",
                                  Path("model"), Path("data")));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"encode", "--model", Path("model"), "--input",
                                 Path("data/corpus.jsonl"), "--output", Path("out")},
        {"train", Path("recipe.toml"), "--output", Path("run")}}) {
    const ProgramResult refused = RunTandem(arguments);
    EXPECT_EQ(refused.exit_code, 4) << refused.err;
    EXPECT_THAT(
        refused.err,
        HasSubstr(Path("model") +
                  ": is a cross-encoder (BertForSequenceClassification): it scores pairs of "
                  "texts and makes no embeddings. Score the pairs of training data with it "
                  "(tandem score --model " +
                  Path("model") +
                  " --pairs DATA --as teacher --output FILE), and give an encoder here"));
  }
  const ProgramResult inspected = RunTandem({"inspect", Path("model"), "--format", "json"});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  const auto json = nlohmann::json::parse(inspected.out);
  EXPECT_EQ(json["kind"], "cross_encoder");
  EXPECT_EQ(json["head"]["class"], "BertForSequenceClassification");
  EXPECT_EQ(json["head"]["hidden_activation"], "tanh");
  EXPECT_EQ(json["labels"], nlohmann::json::array({"LABEL_0"}));
  EXPECT_EQ(json["activation"], "Sigmoid");
  EXPECT_EQ(json["max_tokens"], 40);
  EXPECT_EQ(json["token_types"], true);
}

// Stops between batches, and leaves nothing behind.
TEST_F(ScoreByCrossEncoder, ASignalStopsTheScoringAndWritesNothing) {
  std::string lines;
  for (int i = 0; i < 20000; ++i) {
    lines += fmt::format("{{\"query\": \"alpha {0}\", \"pos\": [\"red green blue {0}\"]}}\n", i);
  }
  WriteFileAtomically(Path("many.jsonl"), lines);
  const StandardStreams streams{.in = "/dev/null", .out = Path("stdout"), .err = Path("stderr")};
  const pid_t child =
      StartTandem({"score", "--model", Path("model"), "--pairs", Path("many.jsonl"), "--as",
                   "teacher", "--output", Path("many-scored.jsonl"), "--threads", "1"},
                  streams);
  // It says so when it starts, and looks for a signal after each batch.
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::filesystem::exists(Path("stderr")) &&
        ReadFile(Path("stderr")).find("scoring 20000 pairs") != std::string::npos) {
      ::kill(child, SIGINT);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(WIFEXITED(status)) << ReadFile(Path("stderr"));
  EXPECT_EQ(WEXITSTATUS(status), 130) << ReadFile(Path("stderr"));
  EXPECT_THAT(ReadFile(Path("stderr")),
              HasSubstr("interrupted; " + Path("many-scored.jsonl") + " was not written"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_THAT(entry.path().filename().native(), Not(HasSubstr("many-scored")));
  }
}

}  // namespace
}  // namespace tandem
