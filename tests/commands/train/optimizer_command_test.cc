// Optimizers, warm-up and learning rate as a user's recipe gives them to `tandem train`.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"
#include "optim/catalogue.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

class OptimizerCommand : public RunTest {
 protected:
  OptimizerCommand()
      : RunTest(kQuickRecipe + R"(
[optimizer]
learning_rate = 1e-3
[train]
batch = 8
steps = 6
checkpoint_every = "2 steps"
keep_checkpoints = 2
[logging]
every = 1
)") {}
  // By step, from 1.
  std::vector<double> LearningRates(const std::string& output) const {
    return MetricOf(output, "learning_rate");
  }
};

TEST_F(OptimizerCommand, EveryOneResumesToTheSameBytes) {
  std::vector<std::string> models;
  for (const optim::OptimizerInfo* info : optim::Optimizers()) {
    const std::string name(info->name);
    const std::vector<std::string> sets = {"--set", "optimizer.name=" + name};
    const ProgramResult trained = Train(name, sets);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    const auto whole = FilesOf(name);
    // As if it had been killed between steps 4 and 6.
    std::filesystem::remove_all(Path(name + "/model"));
    std::filesystem::remove_all(Path(name + "/checkpoints/step-00000006"));
    ASSERT_TRUE(std::filesystem::exists(Path(name + "/checkpoints/step-00000004")));
    const ProgramResult resumed = Train(name, {"--resume", "--set", "optimizer.name=" + name});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_TRUE(FilesOf(name) == whole) << name;
    models.push_back(whole.at("model/model.safetensors"));
  }
  for (size_t m = 1; m < models.size(); ++m) EXPECT_NE(models[m], models[0]);
}

TEST_F(OptimizerCommand, ItsParametersAreRecipeKeys) {
  const ProgramResult trained = Train(
      "run", {"--set", "optimizer.name=adafactor", "--set", "optimizer.scale_parameter=false"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string recipe = ReadFile(Path("run/recipe.resolved.toml"));
  EXPECT_THAT(recipe, HasSubstr("name = \"adafactor\"\nscale_parameter = false\n"));
  EXPECT_THAT(recipe, Not(HasSubstr("beta1")));
  // The recipe's parameters reach the optimizer.
  ASSERT_EQ(Train("scaled", {"--set", "optimizer.name=adafactor"}).exit_code, 0);
  EXPECT_NE(ReadFile(Path("run/model/model.safetensors")),
            ReadFile(Path("scaled/model/model.safetensors")));
  const ProgramResult other =
      Train("other", {"--set", "optimizer.name=adam", "--set", "optimizer.weight_decay=0.1"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("optimizer.weight_decay is unknown for the optimizer adam"));
  const ProgramResult unknown = Train("unknown", {"--set", "optimizer.name=adafacto"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("optimizer.name must be one of adamw, adam, adafactor, found "
                                     "\"adafacto\"; did you mean adafactor?"));
  const ProgramResult changed = Train("run", {"--resume", "--set", "optimizer.name=adafactor"});
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_THAT(changed.err, HasSubstr("optimizer.scale_parameter"));
}

TEST_F(OptimizerCommand, WarmUpIsAShareOrACountOfSteps) {
  ASSERT_EQ(Train("share", {"--set", "train.steps=20", "--set", "schedule.warmup=25%"}).exit_code,
            0);
  ASSERT_EQ(
      Train("count", {"--set", "train.steps=20", "--set", "schedule.warmup=5 steps"}).exit_code, 0);
  const std::vector<double> rates = LearningRates("share");
  EXPECT_EQ(rates, LearningRates("count"));
  ASSERT_EQ(rates.size(), 20);
  for (int step = 0; step < 20; ++step) {
    const double share = step < 5 ? (step + 1) / 6.0 : (20 - step) / 15.0;
    EXPECT_NEAR(rates[step], 1e-3 * share, 1e-15) << step;
  }
  // A warm-up that is longer than the run stays that long, and the run says so.
  const ProgramResult trained = Train("long", {"--set", "schedule.warmup=500 steps"});
  ASSERT_EQ(trained.exit_code, 0);
  EXPECT_THAT(trained.err, HasSubstr("schedule.warmup is 500 steps, but the run has 6"));
  const std::vector<double> rising = LearningRates("long");
  ASSERT_EQ(rising.size(), 6);
  for (int step = 0; step < 6; ++step) EXPECT_NEAR(rising[step], 1e-3 * (step + 1) / 501, 1e-15);
}

TEST_F(OptimizerCommand, LearningRateScalesWithTheRootOfTheStep) {
  const std::vector<std::string> sets = {"--set", "optimizer.learning_rate_scaling=sqrt_batch",
                                         "--set", "train.accumulate=8",
                                         "--set", "schedule.name=constant",
                                         "--set", "schedule.warmup=0"};
  const ProgramResult trained = Train("run", sets);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("the learning rate is 0.002 = 0.001 * sqrt(64 / 16), for 64 "
                                     "queries a step\n"));
  for (const double rate : LearningRates("run")) EXPECT_EQ(rate, 0.002);
  const std::string recipe = ReadFile(Path("run/recipe.resolved.toml"));
  EXPECT_THAT(recipe, HasSubstr("\nlearning_rate = 0.002\nlearning_rate_scaling = \"none\"\n"));
  EXPECT_THAT(recipe, HasSubstr("# In it the learning rate is 0.002 = 0.001 * sqrt(64 / 16)"));
  // --resume accepts it as the same run.
  std::vector<std::string> resume = sets;
  resume.push_back("--resume");
  EXPECT_THAT(Train("run", resume).err, HasSubstr("this run is finished"));

  std::vector<std::string> other = sets;
  other.insert(other.end(), {"--set", "optimizer.reference_batch=256"});
  EXPECT_EQ(Train("other", other).exit_code, 0);
  for (const double rate : LearningRates("other")) EXPECT_EQ(rate, 0.0005);

  other.insert(other.end(),
               {"--set", "optimizer.reference_batch=1", "--set", "optimizer.learning_rate=2"});
  const ProgramResult large = Train("large", other);
  EXPECT_EQ(large.exit_code, 2);
  EXPECT_THAT(large.err, HasSubstr("optimizer.learning_rate becomes 16 = 2 * sqrt(64 / 1) by "
                                   "optimizer.learning_rate_scaling; must be at most 10"));
  EXPECT_FALSE(std::filesystem::exists(Path("large")));
}

}  // namespace
}  // namespace tandem
