// `tandem train` on scored lines, with a filter of false negatives, and --check-gradient-cache.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class TrainLabels : public testing::Test {
 protected:
  TrainLabels() {
    WriteTinyModel(Path("base"));
    WriteFileAtomically(
        Path("recipe.toml"),
        fmt::format("threads = 1\nprecision = \"fp32\"\n[model]\nbase = \"{0}/base\"\n[data]\n"
                    "train = \"{0}/f.jsonl\"\n[objective]\nname = \"infonce\"\n"
                    "[train]\nbatch = 4\nsteps = 4\n[logging]\nevery = 2\n",
                    folder_.path().native()));
    std::string lines;
    for (int q = 0; q < 8; ++q) {
      lines += fmt::format(
          "{{\"sentence1\": \"alpha {0}\", \"sentence2\": \"beta {0}\", \"score\": {1}}}\n", q,
          1 + q % 5);
    }
    WriteFileAtomically(Path("f.jsonl"), lines);
  }
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  ProgramResult Train(const std::vector<std::string>& further) const {
    std::vector<std::string> arguments = {"train", Path("recipe.toml").native(), "--output",
                                          Path("run").native(), "--quiet"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return RunTandem(arguments);
  }
  void ExpectFailure(int exit_code, const std::string& text,
                     const std::vector<std::string>& further) const {
    const ProgramResult result = Train(further);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_FALSE(std::filesystem::exists(Path("run")));
  }
  TemporaryFolder folder_;
};

const std::vector<std::string> kScaled = {"--set", "data.grade_scale=[1,5]", "--set",
                                          "data.positive_grade=2"};

std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::vector<std::string>& further) {
  arguments.insert(arguments.end(), further.begin(), further.end());
  return arguments;
}

TEST_F(TrainLabels, GradesOutsideTheirScale) {
  ExpectFailure(
      3,
      Path("f.jsonl").native() +
          ":2: query 2, document 2:sentence2: grade 2 is outside [0, 1], which is the "
          "range of grades that lines give as scores; give data.grade_scale = [lowest, highest]",
      {});
  ExpectFailure(
      3,
      Path("f.jsonl").native() +
          ":5: query 5, document 5:sentence2: grade 5 is outside data.grade_scale = [1, 4]",
      {"--set", "data.grade_scale=[1,4]", "--set", "data.positive_grade=2"});
  ExpectFailure(2, "--set data.positive_grade=1: data.positive_grade is 1, but must be above 1",
                {"--set", "data.grade_scale=[1,5]", "--set", "data.positive_grade=1"});
}

// A judge's 1 to 5: what is above 1 is a positive where nobody says otherwise.
TEST_F(TrainLabels, AScaleAloneIsEnough) {
  ASSERT_EQ(Train({"--set", "data.grade_scale=[1,5]"}).exit_code, 0);
  const std::string recipe = ReadFile(Path("run/recipe.resolved.toml"));
  EXPECT_THAT(recipe, HasSubstr("positive_grade = 2.0"));
  const std::string model = ReadFile(Path("run/model/model.safetensors"));
  std::filesystem::remove_all(Path("run"));
  ASSERT_EQ(Train(kScaled).exit_code, 0);
  EXPECT_TRUE(ReadFile(Path("run/model/model.safetensors")) == model);
}

TEST_F(TrainLabels, ABatchWithoutNegatives) {
  ExpectFailure(
      2,
      "--set train.batch=1: train.batch makes a first batch of 1 queries and 1 documents "
      "without any allowed negative; raise it, give data.negatives, or look at data.masks "
      "and at queries that share their documents",
      With(kScaled, {"--set", "train.batch=1"}));
}

TEST_F(TrainLabels, FilteredFalseNegativesAreCounted) {
  const ProgramResult result =
      Train(With(kScaled, {"--set", "data.masks.false_negative_score=-2"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(ReadFile(Path("run/metrics.jsonl")));
  std::string line;
  int counted = 0;
  while (std::getline(lines, line)) {
    const auto json = nlohmann::json::parse(line);
    if (!json.contains("loss")) continue;
    // All are above -2: 3 x 2 cells in each of the two batches of a pass of six.
    EXPECT_EQ(json.at("false_negatives"), 6 + 6) << line;
    EXPECT_EQ(json.at("loss"), 0);
    ++counted;
  }
  EXPECT_EQ(counted, 2);
}

// Without any same-tower cell SamToNe is InfoNCE.
TEST_F(TrainLabels, FilteredSameTowerCellsAreCountedAndGone) {
  const auto steps = [this](const std::string& name, const std::vector<std::string>& further) {
    std::filesystem::remove_all(Path("run"));
    EXPECT_EQ(Train(With(With(kScaled, {"--set", "objective.name=" + name, "--set",
                                        "objective.temperature=0.05"}),
                         further))
                  .exit_code,
              0);
    std::istringstream lines(ReadFile(Path("run/metrics.jsonl")));
    std::vector<nlohmann::json> found;
    for (std::string line; std::getline(lines, line);) {
      found.push_back(nlohmann::json::parse(line));
      if (!found.back().contains("loss")) found.pop_back();
    }
    return found;
  };
  const auto plain = steps("infonce", {});
  const auto without = steps("samtone", {"--set", "data.masks.same_tower_score=-2"});
  const auto with = steps("samtone", {"--set", "data.masks.same_tower_score=0.99999"});
  ASSERT_EQ(plain.size(), 2U);
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(without.at(i).at("loss"), plain[i].at("loss"));
    EXPECT_GT(with.at(i).at("loss"), plain[i].at("loss"));
    EXPECT_EQ(without[i].at("same_tower_masked"), 6 + 6);  // 3 x 2 cells of each batch
    EXPECT_EQ(with[i].at("same_tower_masked"), 0);
    EXPECT_FALSE(plain[i].contains("same_tower_masked"));
  }
}

TEST_F(TrainLabels, AnObjectiveWithoutSameTowerNegativesRefusesTheirFilter) {
  ExpectFailure(2,
                "--set data.masks.same_tower_score=0.9: data.masks.same_tower_score does nothing "
                "here: objective infonce has no same-tower negatives, which samtone and pair have",
                With(kScaled, {"--set", "data.masks.same_tower_score=0.9"}));
}

TEST_F(TrainLabels, ABoundThatNoCosineIsAboveIsRefused) {
  ExpectFailure(
      2,
      "--set data.masks.same_tower_score=2: data.masks.same_tower_score is 2, and scores "
      "are cosines, which are 1 at most: it would mask nothing. Leave it out, or give a "
      "number below 1",
      With(kScaled, {"--set", "objective.name=samtone", "--set", "data.masks.same_tower_score=2"}));
  ExpectFailure(2, "data.masks.false_negative_score is 1, and scores are cosines",
                With(kScaled, {"--set", "data.masks.false_negative_score=1"}));
  // Other products may be larger.
  EXPECT_EQ(Train(With(kScaled, {"--set", "data.masks.false_negative_score=1", "--set",
                                 "objective.similarity_kind=dot"}))
                .exit_code,
            0);
}

TEST_F(TrainLabels, WithoutFilterNothingIsCounted) {
  ASSERT_EQ(Train(kScaled).exit_code, 0);
  EXPECT_THAT(ReadFile(Path("run/metrics.jsonl")), testing::Not(HasSubstr("false_negatives")));
  EXPECT_THAT(ReadFile(Path("run/recipe.resolved.toml")), HasSubstr("grade_scale = [1.0, 5.0]"));
}

TEST_F(TrainLabels, ABinarizedRunCanBeResumed) {
  const std::vector<std::string> binarized = {"--set", "data.grade_scale=[1,5]", "--set",
                                              "data.binarize_at=3"};
  ASSERT_EQ(Train(binarized).exit_code, 0);
  const ProgramResult again = Train(With(binarized, {"--resume"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(TrainLabels, CheckGradientCache) {
  const ProgramResult result =
      RunTandem(With({"train", Path("recipe.toml").native(), "--check-gradient-cache", "--set",
                      "output=" + Path("run").native()},
                     kScaled));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("first batch: 3 queries, 3 documents, "));
  EXPECT_THAT(result.out, HasSubstr("worst relative difference of gradients: "));
  EXPECT_THAT(result.out, HasSubstr("bound 1e-03 in fp32\n"));
  EXPECT_THAT(result.out, HasSubstr(" s with the gradient cache: "));
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

}  // namespace
}  // namespace tandem
