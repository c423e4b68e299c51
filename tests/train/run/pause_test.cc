// A run that pauses at a validation and goes on is the run that nobody paused; models are measured
// as its validations measure them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "eval/measure.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"
#include "report/records/run_log.h"
#include "sampling/catalogue.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "train/checks/run_cost.h"
#include "train/observers/observer.h"
#include "train/run/loop.h"
#include "train/run/training_run.h"
#include "train/tiny_data.h"
#include "train/validation/measure_models.h"

namespace tandem::train {
namespace {

constexpr const char* kPausedRecipe = R"(
threads = 1
precision = "fp32"
model.base = "{0}/base"
data.train = "{0}/data"
objective.name = "infonce"
optimizer.learning_rate = 1e-3
train.batch = 8
train.epochs = 3
[validation]
data = "{0}/data"
split = "dev"
every = "11.1111%"
patience = 0
)";

std::span<const config::Catalogue> PauseCatalogues() {
  static const std::vector<config::Catalogue> all = {
      sampling::SamplerCatalogue(), objective::ObjectiveCatalogue(), optim::OptimizerCatalogue(),
      optim::ScheduleCatalogue(), eval::MeasureCatalogue()};
  return all;
}

// Keeps what each validation measured.
class KeepQueryValues final : public LoopObserver {
 public:
  void AfterValidation(const Loop& loop, const ValidationReport& report) override {
    values[loop.state().step] = {report.queries.begin(), report.queries.end()};
  }
  std::map<int64_t, std::vector<QueryValue>> values;
};

class PauseTest : public testing::Test {
 protected:
  PauseTest() {
    WriteTinyModel(folder_.path() / "base");
    WriteTinyData(folder_.path() / "data", TinyWords());
  }
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  config::LoadedRecipe Recipe(const std::vector<std::string>& sets = {}) const {
    return config::ParseRecipe(fmt::format(fmt::runtime(kPausedRecipe), folder_.path().native()),
                               "recipe", sets, PauseCatalogues());
  }
  void Train(const std::string& output, double share, LoopObserver* observer = nullptr) const {
    RunOptions options{.output = Path(output), .restarted = true, .pause_share = share};
    if (observer != nullptr) options.observers = {observer};
    RunTraining(Recipe(), options);
  }
  report::RunLog LogOf(const std::string& run) const {
    return report::ReadRunLog(Path(run) / "metrics.jsonl");
  }

  TemporaryFolder folder_;
};

// 48 queries in batches of 8 are 18 steps in 3 epochs, with a validation at every second one.
// The second run takes the ids that the first one made, and learns the same.
TEST_F(PauseTest, RunsOfOneProcessShareTokenIds) {
  SharedTokens tokens;
  for (const char* run : {"first", "second"}) {
    RunTraining(Recipe(), {.output = Path(run), .tokens = &tokens});
  }
  EXPECT_EQ(tokens.made(), 2);  // queries and documents
  RunTraining(Recipe({"model.query_prompt=\"find: \""}),
              {.output = Path("prompted"), .tokens = &tokens});
  EXPECT_EQ(tokens.made(), 3);
  const std::string weights = "model/model.safetensors";
  EXPECT_EQ(ReadFile(Path("first") / weights), ReadFile(Path("second") / weights));
}

TEST_F(PauseTest, APausedRunEndsInTheBytesOfOneThatWasNot) {
  Train("whole", 1);
  Train("paused", 1.0 / 9);
  EXPECT_EQ(LogOf("paused").step, 2);
  EXPECT_FALSE(LogOf("paused").finished);
  EXPECT_FALSE(std::filesystem::exists(Path("paused/model")));
  const std::string first = ReadFile(Path("paused/metrics.jsonl"));
  Train("paused", 1.0 / 9);  // it is there already
  EXPECT_EQ(ReadFile(Path("paused/metrics.jsonl")), first);
  Train("paused", 1.0 / 3);
  EXPECT_EQ(LogOf("paused").step, 6);
  Train("paused", 1);
  for (const char* file : {"metrics.jsonl", "model/model.safetensors", "model/README.md"}) {
    EXPECT_EQ(ReadFile(Path("paused") / file), ReadFile(Path("whole") / file)) << file;
  }
}

TEST_F(PauseTest, ObserversGetTheValuesOfQueriesWhoseMeanIsTheMeasure) {
  KeepQueryValues keep;
  Train("run", 1, &keep);
  const report::RunLog log = LogOf("run");
  ASSERT_EQ(log.validations.size(), 10U);
  for (const report::ValidationRow& row : log.validations) {
    const std::vector<QueryValue>& values = keep.values.at(row.step);
    ASSERT_EQ(values.size(), 16U);
    double sum = 0;
    for (const QueryValue& value : values) sum += value.value;
    EXPECT_NEAR(sum / 16, row.measures.front().AsDouble(), 1e-12);
  }
}

TEST_F(PauseTest, ModelsAreMeasuredAsTheRunsValidationMeasuresThem) {
  KeepQueryValues keep;
  Train("run", 1, &keep);
  const report::RunLog log = LogOf("run");
  const ModelMeasurer measurer(Recipe(), nullptr);
  const Validated base = measurer.Measure(Path("base"), SettingsOf::kRecipe, {});
  EXPECT_DOUBLE_EQ(base.value, log.validations.front().measures.front().AsDouble());
  const Validated tuned = measurer.Measure(Path("run/model"), SettingsOf::kFolder, {});
  EXPECT_DOUBLE_EQ(tuned.value, log.BestValidation()->measures.front().AsDouble());
  EXPECT_GT(tuned.value, base.value);
  const Validated folder = measurer.MeasureOn({.folder = Path("data"), .split = "dev"},
                                              Path("base"), SettingsOf::kRecipe, {});
  EXPECT_DOUBLE_EQ(folder.value, base.value);
  ASSERT_EQ(folder.queries.size(), base.queries.size());
  for (size_t i = 0; i < base.queries.size(); ++i) {
    EXPECT_EQ(folder.queries[i].query, base.queries[i].query);
    EXPECT_EQ(folder.queries[i].value, base.queries[i].value);
  }
}

TEST_F(PauseTest, MeasuringNeedsARankedValidation) {
  ExpectError([&] { ModelMeasurer(Recipe({"validation.measure=loss"}), nullptr); },
              ExitCode::kUsage, {"validation.measure is \"loss\""});
}

TEST_F(PauseTest, TheCostOfARunIsThatOfItsSteps) {
  const RunCost cost = MeasureRunCost(Recipe(), 2, {}, nullptr);
  EXPECT_EQ(cost.steps, 18);
  EXPECT_GT(cost.step_seconds, 0);
  EXPECT_GT(cost.setup_seconds, 0);
  EXPECT_LT(cost.step_seconds, 10);
}

}  // namespace
}  // namespace tandem::train
