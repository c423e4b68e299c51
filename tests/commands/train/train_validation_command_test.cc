// `tandem train` with validation: the model before training, the best model, what a run says of
// itself, and checkpoints of earlier versions.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

class TrainValidation : public EventfulRunTest {
 protected:
  std::vector<nlohmann::json> Metrics(const std::string& output) const {
    std::vector<nlohmann::json> lines;
    std::istringstream text(ReadFile(Path(output + "/metrics.jsonl")));
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  // Of every validation, by its step.
  std::map<int64_t, double> Validations(const std::string& output, const std::string& name) const {
    std::map<int64_t, double> values;
    for (const nlohmann::json& line : Metrics(output)) {
      if (line["event"] == "validation") values[line["step"]] = line["validation_" + name];
    }
    return values;
  }
  static std::string LastLine(const std::string& text) {
    const size_t end = text.find_last_not_of('\n');
    const size_t begin = text.rfind('\n', end);
    return text.substr(begin + 1, end - begin);
  }
};

TEST_F(TrainValidation, TheBaseModelCanBeTheBest) {
  // A rate at which the model only gets worse.
  const ProgramResult result = Train("run", {"--set", "optimizer.learning_rate=0.5"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::map<int64_t, double> values = Validations("run", "ndcg@10");
  double best_trained = 0;
  for (const auto& [step, value] : values) {
    if (step > 0) best_trained = std::max(best_trained, value);
  }
  ASSERT_TRUE(values.contains(0));
  ASSERT_LT(best_trained, values.at(0));
  EXPECT_TRUE(Metrics("run").front()["best"]);
  EXPECT_EQ(Metrics("run").back()["model_step"], 0);
  EXPECT_EQ(Metrics("run").back()["best_ndcg@10"], values.at(0));
  EXPECT_THAT(
      LastLine(result.err),
      HasSubstr(fmt::format("no step was better than the model before training: ndcg@10 was "
                            "{:.4f} at step 0 and at best {:.4f} after that",
                            values.at(0), best_trained)));
  // The saved model is the base, also by its measure.
  const ProgramResult evaluated =
      RunTandem({"evaluate", "--model", Path("run/model"), "--dataset", Path("data"), "--split",
                 "dev", "--measures", "ndcg@10", "--format", "json"});
  EXPECT_THAT(result.err, HasSubstr("run/model: the base model base as it was, because no step"));
  EXPECT_THAT(evaluated.err, HasSubstr("run/model is the base model as it was before training: no "
                                       "step of its run was better"));
  EXPECT_NEAR(nlohmann::json::parse(evaluated.out)["measures"]["ndcg@10"].get<double>(),
              values.at(0), 1e-6);
  EXPECT_THAT(FilesOf("run").at("model/README.md"),
              HasSubstr(fmt::format("| ndcg@10 | {:.4f} | {:.4f} |", values.at(0), values.at(0))));
}

TEST_F(TrainValidation, TheCardShowsTheMeasureBeforeAndAfter) {
  const ProgramResult result = Train("run");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::map<int64_t, double> values = Validations("run", "ndcg@10");
  const double best = Metrics("run").back()["best_ndcg@10"];
  ASSERT_GT(best, values.at(0));
  EXPECT_THAT(FilesOf("run").at("model/README.md"),
              HasSubstr(fmt::format("| ndcg@10 | {:.4f} | {:.4f} |", values.at(0), best)));
  EXPECT_THAT(result.err, Not(HasSubstr("no step was better")));
}

// The first validation after training began is the first that can cost patience.
TEST_F(TrainValidation, TheMeasureOfTheStartCostsNoPatience) {
  const ProgramResult result =
      Train("run", {"--set", "optimizer.learning_rate=0.5", "--set", "validation.patience=1",
                    "--set", "validation.every=\"4 steps\""});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("stopped at step 4: ndcg@10 has not improved in 1 "));
  EXPECT_EQ(Validations("run", "ndcg@10").size(), 2);
  const ProgramResult whole =
      Train("whole", {"--set", "optimizer.learning_rate=0.5", "--set", "validation.patience=1",
                      "--set", "validation.every=\"4 steps\"", "--set", "train.steps=4"});
  EXPECT_THAT(whole.err, Not(HasSubstr("stopped at")));  // it was at its end
}

// The first batch says where the bias starts, and the first step still trains on it: a run with
// that bias given has the same losses.
TEST_F(TrainValidation, AnOpenBiasIsTakenFromTheFirstBatchWithoutUsingItUp) {
  const std::vector<std::string> settings = {
      "--set", "objective.name=bixse",   "--set", "objective.learn_bias=false",
      "--set", "data.grade_scale=[0,2]", "--set", "validation.measure=loss",
      "--set", "train.epochs=2",         "--set", "logging.every=1"};
  const ProgramResult result = Train("open", settings);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const double bias = Metrics("open").at(1)["objective_bias"];
  EXPECT_LT(bias, -1);
  std::vector<std::string> given = settings;
  given.insert(given.end(), {"--set", fmt::format("objective.bias={}", bias)});
  ASSERT_EQ(Train("given", given).exit_code, 0);
  EXPECT_EQ(MetricOf("open", "loss"), MetricOf("given", "loss"));
  EXPECT_EQ(Validations("open", "loss"), Validations("given", "loss"));
  EXPECT_TRUE(Validations("open", "loss").contains(0));
}

TEST_F(TrainValidation, ALogEndsWithTheMeanLossAndTheLastValidation) {
  const ProgramResult result = Train("run", {"--set", "logging.every=10"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const size_t end = result.err.find("100% 30/30 steps");
  ASSERT_NE(end, std::string::npos) << result.err;
  const std::string line = result.err.substr(end, result.err.find('\n', end) - end);
  EXPECT_THAT(line, HasSubstr(fmt::format(", loss {:.4f}, ndcg@10 {:.4f} at step 30, ",
                                          MetricOf("run", "loss").back(),
                                          Validations("run", "ndcg@10").at(30))));
  EXPECT_EQ(result.err.find("steps", end + line.size()), std::string::npos)
      << "another line of progress comes after the last step's";
}

// The training loss stands beside it.
TEST_F(TrainValidation, TheProgressOfALossSaysThatItIsTheValidations) {
  const ProgramResult result =
      Train("run", {"--set", "logging.every=10", "--set", "validation.measure=loss"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, testing::ContainsRegex(fmt::format(
                              "30/30 steps, .*, loss [0-9.]+, validation loss {:.4f} at step 30, ",
                              Validations("run", "loss").at(30))));
}

TEST_F(TrainValidation, SaysFirstWhichPrecisionAutoIs) {
  const ProgramResult chosen =
      Train("chosen", {"--set", "train.steps=1", "--set", "precision=auto"});
  ASSERT_EQ(chosen.exit_code, 0) << chosen.err;
  EXPECT_THAT(chosen.err, testing::ContainsRegex("^precision (fp32|bf16): .*\ntraining on "));
  const ProgramResult given = Train("given", {"--set", "train.steps=1", "--set", "precision=fp32"});
  EXPECT_THAT(given.err, testing::Not(HasSubstr("precision fp32: ")));
}

// A judged query whose documents the corpus lacks counts with 0, one without a text too, and a
// judged document that is missing is one that is not found: as in trec_eval -c.
TEST_F(TrainValidation, MeasuresWhatEvaluateMeasures) {
  const std::string dev = ReadFile(Path("data/qrels/dev.tsv"));
  std::filesystem::create_directories(Path("elsewhere"));
  std::filesystem::copy(Path("data"), Path("elsewhere"), std::filesystem::copy_options::recursive);
  for (const std::string data : {"data", "elsewhere"}) {
    WriteFileAtomically(Path(data + "/qrels/dev.tsv"),
                        dev + "q0\tgone\t2\nq48\tgone\t2\nnobody\td1\t2\n");
    for (const std::string measure : {"ndcg@10", "recall@10", "auc"}) {
      const std::string run = data + measure;
      ASSERT_EQ(Train(run, {"--set", "train.steps=1", "--set", "validation.measure=" + measure,
                            "--set", "validation.data=" + Path(data)})
                    .exit_code,
                0);
      const ProgramResult evaluated = RunTandem(
          {"evaluate", "--model", Path("base"), "--dataset", Path(data), "--split", "dev",
           "--measures", measure, "--relevance-level", "2", "--format", "json", "--quiet"});
      EXPECT_NEAR(Validations(run, measure).at(0),
                  nlohmann::json::parse(evaluated.out)["measures"][measure].get<double>(), 1e-6)
          << run;
    }
  }
  // What is missing is a part of what was read.
  WriteFileAtomically(Path("data/qrels/dev.tsv"), dev + "q0\tgone\t2\nnobody\td1\t2\n");
  const ProgramResult changed = Train("datandcg@10", {"--resume", "--set", "train.steps=1", "--set",
                                                      "validation.data=" + Path("data")});
  EXPECT_EQ(changed.exit_code, 3) << changed.err;
}

// The pool is evaluate's, drawn by the same seed; further measures stand beside the one that
// decides.
TEST_F(TrainValidation, APoolAndFurtherMeasuresAreThoseOfEvaluate) {
  const std::vector<std::string> measures = {"ndcg@10", "auc", "mrr@10"};
  const ProgramResult result =
      Train("run", {"--set", "train.steps=8", "--set", "validation.pool=25", "--set",
                    "validation.report=[\"auc\", \"mrr@10\"]"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("validation on a pool of 25 of 60 documents (16 of them "));
  const std::string timing = ReadFile(Path("run/timing.jsonl"));
  const nlohmann::json head = nlohmann::json::parse(timing.substr(0, timing.find('\n')));
  EXPECT_EQ(head["validation_documents"], 25);
  EXPECT_EQ(head["validation_queries"], 16);
  EXPECT_EQ(head["validation_corpus"], 60);
  for (const std::string& measure : measures) {
    const std::map<int64_t, double> values = Validations("run", measure);
    EXPECT_EQ(values.size(), 3U) << measure;  // before training, at steps 7 and 8
    const ProgramResult evaluated =
        RunTandem({"evaluate", "--model", Path("base"), "--dataset", Path("data"), "--split", "dev",
                   "--measures", measure, "--relevance-level", "2", "--pool", "25", "--seed", "3",
                   "--format", "json", "--quiet"});
    ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
    EXPECT_NEAR(values.at(0),
                nlohmann::json::parse(evaluated.out)["measures"][measure].get<double>(), 1e-6);
  }
  const nlohmann::json end = Metrics("run").back();
  EXPECT_EQ(end["best_ndcg@10"], Validations("run", "ndcg@10").at(end["model_step"]));
  ASSERT_EQ(Train("whole", {"--set", "train.steps=8"}).exit_code, 0);
  EXPECT_NE(Validations("run", "ndcg@10").at(0), Validations("whole", "ndcg@10").at(0));
  // What is measured on changes what is best: a run keeps it.
  EXPECT_EQ(
      Train("run", {"--resume", "--set", "train.steps=8", "--set", "validation.pool=26"}).exit_code,
      2);
}

TEST_F(TrainValidation, SaysWhatItsValidationsCost) {
  const ProgramResult result = Train("run", {"--set", "train.steps=8"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              testing::ContainsRegex("3 validations took [0-9.]+ s, [0-9]+ % of the time"));
  EXPECT_THAT(result.err, Not(HasSubstr("a pool of")));
}

TEST_F(TrainValidation, AnyMeasureStopsARun) {
  const ProgramResult result =
      Train("run", {"--set", "optimizer.learning_rate=0.5", "--set", "validation.patience=1",
                    "--set", "validation.every=\"4 steps\"", "--set", "validation.measure=auc"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(": auc has not improved in 1 validations"));
}

TEST_F(TrainValidation, FurtherMeasuresAreChecked) {
  const ProgramResult unknown = Train("run", {"--set", "validation.report=[\"ndgc@10\"]"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("validation.report names no measure: measure ndgc@10 is "
                                     "unknown; did you mean ndcg@10?"));
  const ProgramResult twice = Train("run", {"--set", "validation.report=[\"map\", \"ndcg@10\"]"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err,
              HasSubstr("validation.report names ndcg@10 again, which is measured already"));
  EXPECT_FALSE(std::filesystem::exists(Path("run")));
}

// An earlier version did not measure the start, and wrote the epoch.
TEST_F(TrainValidation, ACheckpointOfAnEarlierVersionIsResumed) {
  const std::vector<std::string> keep = {"--set", "train.keep_checkpoints=2"};
  ASSERT_EQ(Train("whole", keep).exit_code, 0);
  ASSERT_EQ(Train("run", keep).exit_code, 0);
  std::filesystem::remove_all(Path("run/model"));
  std::filesystem::remove_all(Path("run/checkpoints/step-00000030"));
  const std::string path = Path("run/checkpoints/step-00000028/state.json");
  nlohmann::json state = nlohmann::json::parse(ReadFile(path));
  for (const char* key : {"base_value", "best_trained_step", "best_trained_value"}) {
    ASSERT_EQ(state["loop"].erase(key), 1) << key;
  }
  state["loop"]["epoch"] = 5.0;
  WriteFileAtomically(path, state.dump());
  const ProgramResult resumed = Train("run", {"--resume", keep[0], keep[1]});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const Contents got = FilesOf("run"), want = FilesOf("whole");
  EXPECT_EQ(got.at("metrics.jsonl"), want.at("metrics.jsonl"));
  EXPECT_TRUE(got.at("model/model.safetensors") == want.at("model/model.safetensors"));
  EXPECT_THAT(got.at("model/README.md"), HasSubstr("| ndcg@10 |  | "));
}

// Several data sets: what decides is the mean of what `evaluate` finds on each.
class TrainValidationSources : public TrainValidation {
 protected:
  TrainValidationSources() {
    WriteTinyData(Path("more"), TinyWords(), {.documents = 40, .queries = 30, .seed = 2});
    ValidateOnSources(fmt::format(
        "[[validation.source]]\npath = \"{}\"\n[[validation.source]]\npath = \"{}\"\nsplit = "
        "\"train\"\nqueries = 12\npool = 38\n",
        Path("data"), Path("more")));
  }
};

TEST_F(TrainValidationSources, TheMeanDecidesAndEachIsSaid) {
  const ProgramResult result = Train("run");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto mean = Validations("run", "ndcg@10");
  const auto data = Validations("run", "ndcg@10[data]"), more = Validations("run", "ndcg@10[more]");
  ASSERT_GT(mean.size(), 2U);
  double best = 0;
  for (const auto& [step, value] : mean) {
    EXPECT_NEAR(value, (data.at(step) + more.at(step)) / 2, 1e-12);
    EXPECT_THAT(result.err,
                HasSubstr(fmt::format("validation at step {}: ndcg@10 {:.4f}, the mean of data "
                                      "{:.4f}, more {:.4f}\n",
                                      step, value, data.at(step), more.at(step))));
    best = std::max(best, value);
  }
  EXPECT_EQ(Metrics("run").back()["best_ndcg@10"], best);
  EXPECT_THAT(result.err, HasSubstr("validation on more: 12 of 30 judged queries, 40 documents\n"));
  EXPECT_THAT(result.err, HasSubstr("validation on more: a pool of 38 of 40 documents"));
  EXPECT_THAT(result.err, HasSubstr(" on the mean of data, more"));
  const ProgramResult evaluated =
      RunTandem({"evaluate", "--model", Path("base"), "--dataset", Path("data"), "--split", "dev",
                 "--measures", "ndcg@10", "--format", "json"});
  EXPECT_NEAR(nlohmann::json::parse(evaluated.out)["measures"]["ndcg@10"].get<double>(), data.at(0),
              1e-6);
}

TEST_F(TrainValidationSources, AResumedRunHasTheSameBytes) {
  const std::vector<std::string> flags =
      SetFlags({"train.keep_checkpoints=99", "data.swap_labels=0.3", "data.limit=25"});
  ASSERT_EQ(Train("whole", flags).exit_code, 0);
  ExpectTheSameFromEveryCheckpoint("whole", flags, 2);
  const ProgramResult other = Train(
      "whole", SetFlags({"train.keep_checkpoints=99", "data.swap_labels=0.3", "data.limit=26"}));
  EXPECT_EQ(other.exit_code, 2);
}

}  // namespace
}  // namespace tandem
