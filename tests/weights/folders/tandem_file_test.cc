#include "weights/folders/tandem_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"

namespace tandem::weights {
namespace {

class TandemFileTest : public testing::Test {
 protected:
  void Write(std::string_view text) { WriteText(folder_.path() / kTandemFile, text); }
  const std::filesystem::path& Folder() const { return folder_.path(); }
  std::string Text() const { return ReadFile(folder_.path() / kTandemFile); }
  TandemFile Read() const { return ReadTandemFile(folder_.path()); }
  void ExpectBroken(std::string_view text, const std::vector<std::string>& messages) {
    Write(text);
    ExpectError([&] { Read(); }, ExitCode::kModel, messages);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(TandemFileTest, AFolderWithoutItHasTheDefaults) {
  const TandemFile file = Read();
  EXPECT_EQ(file.towers, Towers::kShared);
  EXPECT_FALSE(file.max_query_tokens);
  EXPECT_FALSE(file.max_document_tokens);
  EXPECT_FALSE(file.calibration);
}

TEST_F(TandemFileTest, ReadsBackWhatWasWritten) {
  Write(TandemFileText(
      {.towers = Towers::kSeparate,
       .max_query_tokens = 32,
       .max_document_tokens = 128,
       .calibration =
           Calibration{.objective = "bixse", .scale = 20.125, .bias = -3.3, .similarity = "dot"}}));
  const TandemFile file = Read();
  EXPECT_EQ(file.towers, Towers::kSeparate);
  EXPECT_EQ(file.max_query_tokens, 32u);
  EXPECT_EQ(file.max_document_tokens, 128u);
  ASSERT_TRUE(file.calibration);
  EXPECT_EQ(file.calibration->objective, "bixse");
  EXPECT_EQ(file.calibration->scale, 20.125);
  EXPECT_EQ(file.calibration->bias, -3.3);
  EXPECT_EQ(file.calibration->similarity, "dot");
}

TEST_F(TandemFileTest, SaysWhereTheRunOfAModelWasStopped) {
  Write(TandemFileText({.stopped = StoppedRun{.step = 12, .steps = 39}}));
  ASSERT_TRUE(Read().stopped);
  EXPECT_EQ(*Read().stopped, (StoppedRun{.step = 12, .steps = 39}));
  EXPECT_EQ(StoppedText(*Read().stopped), "at step 12 of 39");
  WriteCalibration(Folder(), Calibration{.objective = "bixse", .scale = 1, .similarity = "dot"});
  EXPECT_TRUE(Read().stopped);  // a calibration does not finish the run
  Write(TandemFileText({.stopped = StoppedRun{.step = 12}}));
  EXPECT_EQ(StoppedText(*Read().stopped), "at step 12");
  Write(TandemFileText({}));
  EXPECT_FALSE(Read().stopped);
  ExpectBroken(R"({"format": 1, "stopped": {"steps": 3}})", {"'step' is missing"});
}

// Version 0.4 wrote such files, before lengths were kept; the last has a key of a later version.
TEST_F(TandemFileTest, OlderAndNewerFilesOfTheFormatAreRead) {
  Write(R"({"format": 1, "towers": "separate_shared_projection"})");
  EXPECT_EQ(Read().towers, Towers::kSeparateSharedProjection);
  EXPECT_FALSE(Read().max_query_tokens);
  Write(R"json({"format": 1, "objective": "bixse", "probability": {"scale": 20, "bias": -9.5,
      "similarity": "cosine", "formula": "1 / (1 + exp(-(scale * score + bias)))"}})json");
  EXPECT_EQ(Read().calibration->bias, -9.5);
  EXPECT_FALSE(Read().max_document_tokens);
  Write(R"({"format": 1, "colour": "blue", "max_query_tokens": 7})");
  EXPECT_EQ(Read().max_query_tokens, 7u);
}

// Each method comes with what an objective had learned before.
TEST_F(TandemFileTest, FittedCalibrationsComeBack) {
  const LearnedScale learned{.objective = "bixse", .scale = 20.125, .bias = -3.3};
  Write(TandemFileText({.calibration = Calibration{.scale = 1.0 / 3,
                                                   .bias = -0.1,
                                                   .similarity = "dot",
                                                   .method = CalibrationMethod::kPlatt,
                                                   .fitted_on = "mine, split dev",
                                                   .replaced = learned}}));
  const Calibration platt = *Read().calibration;
  EXPECT_EQ(platt.method, CalibrationMethod::kPlatt);
  EXPECT_EQ(platt.objective, "");
  EXPECT_EQ(platt.scale, 1.0 / 3);
  EXPECT_EQ(platt.bias, -0.1);
  EXPECT_EQ(platt.similarity, "dot");
  EXPECT_EQ(platt.fitted_on, "mine, split dev");
  ASSERT_TRUE(platt.Learned());
  EXPECT_EQ(platt.Learned()->objective, "bixse");
  EXPECT_EQ(platt.Learned()->scale, 20.125);
  EXPECT_EQ(platt.Learned()->bias, -3.3);

  Write(TandemFileText({.calibration = Calibration{.method = CalibrationMethod::kIsotonic,
                                                   .scores = {-0.1, 0.3, 1.0 / 3},
                                                   .probabilities = {0, 0, 0.7}}}));
  const Calibration isotonic = *Read().calibration;
  EXPECT_EQ(isotonic.method, CalibrationMethod::kIsotonic);
  EXPECT_EQ(isotonic.scores, (std::vector<double>{-0.1, 0.3, 1.0 / 3}));
  EXPECT_EQ(isotonic.probabilities, (std::vector<double>{0, 0, 0.7}));
  EXPECT_FALSE(isotonic.Learned());
  EXPECT_EQ(isotonic.Text(), "isotonic regression of cosine, 3 points, fitted to judgements");
}

TEST_F(TandemFileTest, ProbabilitiesAreThoseOfTheMethod) {
  const Calibration platt{
      .scale = 2, .bias = -1, .method = CalibrationMethod::kPlatt, .fitted_on = "mine, split dev"};
  EXPECT_NEAR(platt.Probability(1), 0.7310585786, 1e-9);  // 1 / (1 + exp(-1))
  EXPECT_EQ(platt.Text(), "1 / (1 + exp(-(2 cosine + -1))), fitted to mine, split dev");
  const Calibration isotonic{
      .method = CalibrationMethod::kIsotonic, .scores = {0.2, 0.4}, .probabilities = {0.1, 0.5}};
  EXPECT_EQ(isotonic.Probability(0), 0.1);
  EXPECT_NEAR(isotonic.Probability(0.25), 0.2, 1e-12);
  EXPECT_EQ(isotonic.Probability(1), 0.5);
}

// Version 0.1 wrote it like this, without a method. What it learned is what is in use.
TEST_F(TandemFileTest, WithoutAMethodTheObjectiveLearnedIt) {
  Write(R"({"format": 1, "objective": "bixse",
      "probability": {"scale": 20, "bias": -9.5, "similarity": "cosine"}})");
  const Calibration calibration = *Read().calibration;
  EXPECT_EQ(calibration.method, CalibrationMethod::kObjective);
  EXPECT_EQ(calibration.Learned()->objective, "bixse");
  EXPECT_EQ(calibration.Learned()->bias, -9.5);
  EXPECT_EQ(calibration.Text(), "1 / (1 + exp(-(20 cosine + -9.5))), as objective bixse learned");
}

TEST_F(TandemFileTest, WritingACalibrationKeepsEverythingElse) {
  const Calibration platt{.scale = 2, .bias = -1, .method = CalibrationMethod::kPlatt};
  WriteCalibration(Folder(), platt);  // no file yet
  EXPECT_EQ(Read().calibration->scale, 2);
  EXPECT_EQ(Read().towers, Towers::kShared);
  const std::string before =
      R"({"format": 1, "towers": "separate", "max_query_tokens": 7, "colour": {"b": 1, "a": 2}})";
  Write(before);
  WriteCalibration(Folder(), platt);
  EXPECT_EQ(Read().calibration->bias, -1);
  EXPECT_EQ(Read().towers, Towers::kSeparate);
  EXPECT_NE(Text().find("\"colour\": {\n    \"b\": 1,\n    \"a\": 2\n  }"), std::string::npos);
  WriteCalibration(Folder(), std::nullopt);
  EXPECT_FALSE(Read().calibration);
  EXPECT_EQ(nlohmann::json::parse(Text()), nlohmann::json::parse(before));
  // Writing an objective's own calibration removes all of a fit.
  WriteCalibration(Folder(), Calibration{.method = CalibrationMethod::kIsotonic,
                                         .scores = {0.5},
                                         .probabilities = {1},
                                         .replaced = LearnedScale{"bixse", 3, -1}});
  WriteCalibration(Folder(), Calibration{.objective = "bixse", .scale = 3, .bias = -1});
  EXPECT_EQ(nlohmann::json::parse(Text())["probability"],
            nlohmann::json::parse(R"json({"method": "objective", "scale": 3.0, "bias": -1.0,
      "similarity": "cosine", "formula": "1 / (1 + exp(-(scale * score + bias)))"})json"));
  EXPECT_FALSE(nlohmann::json::parse(Text()).contains("learned"));
  // A broken file is not overwritten.
  Write("{");
  ExpectError([&] { WriteCalibration(Folder(), platt); }, ExitCode::kModel, {"is not valid JSON"});
  EXPECT_EQ(Text(), "{");
}

TEST_F(TandemFileTest, BrokenCalibrationsAreModelErrors) {
  const auto expect = [&](const std::string& probability, const std::string& message) {
    ExpectBroken(R"({"format": 1, "probability": )" + probability + "}", {message});
  };
  expect("3", "'probability' is 3; an object expected");
  expect(R"({"method": "beta", "similarity": "dot"})",
         "'method' is \"beta\"; \"objective\", \"platt\" or \"isotonic\" expected");
  expect(R"({"method": "platt", "scale": 1, "similarity": "dot"})", "'bias' is missing");
  const auto isotonic = [&](const std::string& scores, const std::string& probabilities,
                            const std::string& message) {
    expect(R"({"method": "isotonic", "similarity": "dot", "scores": )" + scores +
               R"(, "probabilities": )" + probabilities + "}",
           message);
  };
  isotonic("[]", "[]", "'scores' is []");
  isotonic("[1, 2]", "[0.5]", "one for each of the 2 scores");
  isotonic("[2, 1]", "[0, 1]", "'scores' is [2,1]; ascending numbers");
  isotonic("[1, 1]", "[0, 1]", "'scores' is [1,1]; each score once");
  isotonic("[1, 2]", "[0.5, 0.4]", "ascending numbers from 0 to 1");
  isotonic("[1, 2]", "[0.5, 1.5]", "ascending numbers from 0 to 1");
  isotonic("[1, \"2\"]", "[0, 1]", "ascending numbers");
}

TEST_F(TandemFileTest, BrokenFilesAreModelErrors) {
  ExpectBroken("{", {"tandem.json", "is not valid JSON"});
  ExpectBroken("{}", {"'format' is missing"});
  ExpectBroken(R"({"format": 2})", {"'format' is 2", "a later version of Tandem"});
  ExpectBroken(R"({"format": 1, "towers": "three"})", {"'towers' is \"three\""});
  ExpectBroken(R"({"format": 1, "max_query_tokens": 0})", {"'max_query_tokens' is 0"});
  ExpectBroken(R"({"format": 1, "max_document_tokens": "64"})", {"'max_document_tokens' is"});
  ExpectBroken(R"({"format": 1, "probability": {"scale": 1, "similarity": "dot"}})",
               {"'bias' is missing; a number expected"});
}

}  // namespace
}  // namespace tandem::weights
