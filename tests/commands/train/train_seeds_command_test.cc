// `tandem train --seeds`, and `tandem compare` of what it makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

// The recipe's seed is 3.
class TrainSeeds : public EventfulRunTest {
 protected:
  ProgramResult Seeds(const std::string& output, std::vector<std::string> further = {}) const {
    further.insert(further.end(), {"--seeds", "3", "--set", "train.epochs=2"});
    return Train(output, further);
  }
  ProgramResult Compare(const std::vector<std::string>& systems,
                        const std::string& measures = "ndcg@10") const {
    std::vector<std::string> arguments = {"compare"};
    for (const std::string& system : systems) arguments.push_back(Path(system));
    arguments.insert(arguments.end(),
                     {"--dataset", Path("data"), "--split", "dev", "--measures", measures,
                      "--format", "json", "--permutations", "1000", "--resamples", "1000"});
    return RunTandem(arguments);
  }
};

TEST_F(TrainSeeds, EachIsTheRunThatItsSeedMakes) {
  const ProgramResult result = Seeds("runs", {"--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["measure"], "ndcg@10");
  ASSERT_EQ(found["runs"].size(), 3U);
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found["runs"][i]["seed"], 3 + i);
    sum += found["runs"][i]["value"].get<double>();
  }
  EXPECT_DOUBLE_EQ(found["mean"], sum / 3);
  EXPECT_LT(found["low"], found["mean"]);
  EXPECT_GT(found["standard_deviation"], 0);
  ASSERT_EQ(Train("alone", {"--seed", "5", "--set", "train.epochs=2"}).exit_code, 0);
  ExpectSameFiles("runs/seed-5", "alone");
}

TEST_F(TrainSeeds, ResumedItGoesOnWhereItWas) {
  const ProgramResult first = Seeds("runs");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("standard deviation"));
  const ProgramResult again = Seeds("runs");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("runs: exists already; give --resume"));
  const Contents before = FilesOf("runs");
  std::filesystem::remove_all(Path("runs/seed-5"));
  const ProgramResult resumed = Seeds("runs", {"--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("seed-3: this run is finished"));
  EXPECT_EQ(FilesOf("runs"), before);
  EXPECT_EQ(resumed.out, first.out);
}

TEST_F(TrainSeeds, ComparedTheyAreRecipes) {
  ASSERT_EQ(Seeds("one").exit_code, 0);
  ASSERT_EQ(Seeds("other", {"--set", "optimizer.learning_rate=1e-5"}).exit_code, 0);
  const ProgramResult recipes = Compare({"one", "other"});
  ASSERT_EQ(recipes.exit_code, 0) << recipes.err;
  EXPECT_THAT(recipes.err, HasSubstr("recipes are compared: a query's value is the mean over a "
                                     "recipe's seeds, the test is the paired randomisation test"));
  const auto found = nlohmann::json::parse(recipes.out);
  const auto& difference = found["systems"][0]["measures"]["ndcg@10"];
  EXPECT_EQ(difference["over_seeds"], true);
  double mean = 0;
  for (const char* seed : {"3", "4", "5"}) {
    const ProgramResult one = RunTandem(
        {"evaluate", "--model", Path(std::string("one/seed-") + seed + "/model"), "--dataset",
         Path("data"), "--split", "dev", "--measures", "ndcg@10", "--format", "json"});
    ASSERT_EQ(one.exit_code, 0) << one.err;
    mean += nlohmann::json::parse(one.out)["measures"]["ndcg@10"].get<double>() / 3;
  }
  EXPECT_NEAR(difference["baseline"], mean, 1e-12);
  EXPECT_EQ(Compare({"one", "other"}, "auc").exit_code, 2);
  // Single models are none.
  const ProgramResult models = Compare({"one/seed-3/model", "one/seed-4/model"});
  ASSERT_EQ(models.exit_code, 0) << models.err;
  EXPECT_THAT(models.err,
              HasSubstr("trained models are compared, not recipes (some are runs of one "
                        "recipe): the test says"));
  const ProgramResult others = Compare({"one/seed-3/model", "other/seed-3/model"});
  EXPECT_THAT(others.err, HasSubstr("trained models are compared, not recipes: the test says"));
  EXPECT_THAT(Compare({"base", "one/seed-3/model"}).err, Not(HasSubstr("are compared")));
  // A run that was stopped has a model, but not the one that it will have.
  const std::string metrics = ReadFile(Path("one/seed-4/metrics.jsonl"));
  WriteFileAtomically(Path("one/seed-4/metrics.jsonl"),
                      metrics.substr(0, metrics.rfind('\n', metrics.size() - 2) + 1));
  const ProgramResult unfinished = Compare({"one", "other"});
  EXPECT_EQ(unfinished.exit_code, 2);
  EXPECT_THAT(
      unfinished.err,
      HasSubstr("one/seed-4: has no model, or no metrics.jsonl that says that the run finished"));
}

}  // namespace
}  // namespace tandem
