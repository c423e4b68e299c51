// `tandem tune` on a tiny model and data set: the whole search and its end after kills.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files/files.h"
#include "commands/tune/tune_fixture.h"
#include "support/run_tandem.h"

namespace tandem {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Row = nlohmann::json;

TEST_F(Tune, FindsARecipeWithinItsBudget) {
  const ProgramResult result = Search("search", {"--budget", "156 steps"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Row plan = RowsOf("search", "plan").front();
  // 156 steps are 39 ninths of a run: halving of 9 takes 21 of them, two full runs 18.
  EXPECT_EQ(plan["brackets"], Row::parse("[[[9, 1], [3, 3], [1, 9]], [[1, 9]], [[1, 9]]]"));
  EXPECT_EQ(plan["configurations"].size(), 9U);
  EXPECT_TRUE(plan["configurations"][0].empty());
  const std::vector<Row> rungs = RowsOf("search", "rung");
  ASSERT_EQ(rungs.size(), 9U + 3U + 1U + 2U);
  for (size_t i = 0; i < rungs.size(); ++i) {
    EXPECT_EQ(rungs[i]["step"], i < 9 ? 4 : i < 12 ? 12 : 36) << i;
  }
  // The three of the second round are the best of the first.
  std::vector<double> first;
  for (size_t i = 0; i < 9; ++i) first.push_back(rungs[i]["value"]);
  std::sort(first.rbegin(), first.rend());
  for (size_t i = 9; i < 12; ++i) {
    const size_t trial = rungs[i]["trial"];
    EXPECT_GE(rungs[trial - 1]["value"], first[2]);
  }
  const std::vector<Row> drawn = RowsOf("search", "draw");
  ASSERT_EQ(drawn.size(), 2U);
  for (size_t i = 0; i < drawn.size(); ++i) {
    EXPECT_EQ(drawn[i]["trial"], 10 + i);
    EXPECT_THAT(plan["configurations"], Not(testing::Contains(drawn[i]["values"])));
    EXPECT_THAT(ReadFile(Path(fmt::format("search/trials/{:03}/recipe.toml", 10 + i))),
                HasSubstr("learning_rate = " +
                          drawn[i]["values"]["optimizer.learning_rate"].get<std::string>()));
  }
  EXPECT_NE(drawn[0]["values"], drawn[1]["values"]);
  EXPECT_THAT(result.out, HasSubstr("train: trial "));
  EXPECT_THAT(result.out, HasSubstr("model: " + Path("search/trials/")));
  EXPECT_THAT(result.err,
              HasSubstr("11 trials: 9 configurations by successive halving, then 2 in full, "
                        "each where those before it promise most; 4.3 times"));
  EXPECT_EQ(JournalOf("search").back()["event"], "end");
}

// A trial's model is that of its values also where the base is better, or averages would be of the
// base with itself.
TEST_F(Tune, ATrialBelowTheBaseKeepsItsOwnModel) {
  const ProgramResult result =
      Search("search", {"--budget", "36 steps", "--set", "optimizer.learning_rate=0.5", "--set",
                        "tune.average=[0.5]"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Row choice = RowsOf("search", "choice").front();
  for (const Row& arm : choice["arms"]) {
    const std::string model = arm["model"];
    const ProgramResult measured = RunTandem(
        {"evaluate", "--model", Path("search/" + model), "--dataset", Path("data"), "--split",
         "train", "--relevance-level", "2", "--measures", "ndcg@10", "--format", "json"});
    ASSERT_EQ(measured.exit_code, 0) << measured.err;
    // Such a rate makes scores nearly equal, so that rounding decides some ranks.
    const double found = Row::parse(measured.out)["measures"]["ndcg@10"];
    EXPECT_LT(std::abs(found - arm["value"].get<double>()),
              std::abs(found - choice["base"].get<double>()))
        << arm;
    EXPECT_NE(ReadFile(Path("search/" + model + "/model.safetensors")),
              ReadFile(Path("base/model.safetensors")));
  }
  EXPECT_LT(choice["arms"][0]["gain"], 0);
}

TEST_F(Tune, ABaseOfMoreLayersHasNoAverage) {
  const ProgramResult result = Search(
      "search", {"--budget", "36 steps", "--set", "model.layers=1", "--set", "tune.average=[0.5]"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("layers of its encoder: 1, but 2 in " + Path("base")));
}

TEST_F(Tune, WhatChangedSinceItBeganIsSaid) {
  const std::vector<std::string> flags = {
      "--budget", "36 steps",           "--set", fmt::format("tune.keep=[\"{}\"]", Path("other")),
      "--set",    "tune.keep_split=dev"};
  ASSERT_EQ(Search("search", flags).exit_code, 0);
  std::vector<std::string> resumed = flags;
  resumed.push_back("--resume");
  ASSERT_EQ(Search("search", resumed).exit_code, 0);
  const auto expect_refused = [&](const std::string& file, const std::string& what) {
    const std::string before = ReadFile(Path(file));
    WriteFileAtomically(Path(file), before + "{\"_id\": \"new\", \"text\": \"another\"}\n");
    const ProgramResult result = Search("search", resumed);
    EXPECT_EQ(result.exit_code, 2) << file;
    EXPECT_THAT(result.err, HasSubstr(what + " changed since the search began"));
    WriteFileAtomically(Path(file), before);
  };
  expect_refused("data/corpus.jsonl", "the training or validation data");
  expect_refused("other/corpus.jsonl", Path("other"));
  WriteFileAtomically(Path("base/notes.txt"), "another file of the model");
  EXPECT_THAT(Search("search", resumed).err, HasSubstr("the base model changed since"));
}

TEST_F(Tune, DoesNotGoOnWithOtherAdapters) {
  ASSERT_EQ(Train("lora", {"--set", "model.train=lora"}).exit_code, 0);
  const std::vector<std::string> flags = {"--budget", "60 steps",
                                          "--set",    "model.train=lora",
                                          "--set",    Set("model.adapter", "lora/adapter")};
  const ProgramResult result = Search("search", flags);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  WriteFileAtomically(Path("lora/adapter/notes.txt"), "another file of the adapter");
  std::vector<std::string> resumed = flags;
  resumed.push_back("--resume");
  const ProgramResult refused = Search("search", resumed);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("the adapter changed since the search began"));
}

TEST_F(Tune, TheChoiceIsTheRunThatItsRecipeMakes) {
  ASSERT_EQ(Search("search", {"--budget", "60 steps"}).exit_code, 0);
  const Row choice = RowsOf("search", "choice").front();
  ASSERT_TRUE(choice.contains("chosen")) << choice;
  const std::string model = choice["arms"][choice["chosen"].get<size_t>()]["model"];
  const ProgramResult trained =
      RunTandem({"train", Path("search/recipe.toml"), "--output", Path("again")});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(ReadFile(Path("again/model/model.safetensors")),
            ReadFile(Path("search/" + model + "/model.safetensors")));
}

// Trials that read the same texts with the same model and objective take the base's value from the
// first of them, which is told here by one that no validation gives.
TEST_F(Tune, TrialsShareTheValidationOfTheBase) {
  const std::vector<std::string> flags = {"--budget", "60 steps"};
  ASSERT_EQ(Search("search", flags).exit_code, 0);
  const Row configurations = RowsOf("search", "plan").front()["configurations"];
  const auto folder_of = [](size_t trial) { return fmt::format("search/trials/{:03}", trial); };
  const auto base_of = [this](const std::string& run) {
    std::istringstream lines(ReadFile(Path(run + "/metrics.jsonl")));
    std::string line;
    std::getline(lines, line);
    return line;
  };
  for (size_t trial = 1; trial <= configurations.size(); ++trial) {
    const std::string alone = fmt::format("alone-{}", trial);
    const ProgramResult result =
        RunTandem({"train", Path(folder_of(trial) + "/recipe.toml"), "--output", Path(alone)});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(base_of(folder_of(trial) + "/run"), base_of(alone)) << trial;
  }
  // Only two trials have been trained so far, of which the second says what no validation gives.
  std::string journal;
  std::istringstream lines(ReadFile(Path("search/journal.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    journal += line + "\n";
    if (Row::parse(line)["event"] == "rung" && Row::parse(line)["trial"] == 2) break;
  }
  std::ofstream(Path("search/journal.jsonl")) << journal;
  for (size_t trial = 3; trial <= configurations.size(); ++trial) {
    std::filesystem::remove_all(Path(folder_of(trial)));
  }
  const std::string metrics = Path(folder_of(2) + "/run/metrics.jsonl");
  std::string text = ReadFile(metrics);
  const std::string name = "\"validation_ndcg@10\":";
  const size_t begin = text.find(name) + name.size(), end = text.find(',', begin);
  std::string told = "0.125";
  told.resize(end - begin, '0');  // checkpoints know how long the file is
  text.replace(begin, end - begin, told);
  std::ofstream(metrics) << text;
  std::vector<std::string> resumed = flags;
  resumed.push_back("--resume");
  const ProgramResult result = Search("search", resumed);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  size_t shared = 0;
  for (size_t trial = 3; trial <= configurations.size(); ++trial) {
    const Row row = Row::parse(base_of(folder_of(trial) + "/run"));
    const Row& values = configurations[trial - 1];
    const bool same = values["objective.name"] == configurations[1]["objective.name"];
    EXPECT_EQ(row["validation_ndcg@10"] == 0.125, same) << values;
    shared += same ? 1 : 0;
  }
  EXPECT_GT(shared, 0U);
}

// The journal of a search that is killed with SIGKILL again and again is that of one that is not.
TEST_F(Tune, KilledAtAnyMomentItEndsInTheSameJournal) {
  const std::vector<std::string> flags = {
      "--budget", "120 steps", "--set", Set("tune.test", "other"), "--set", "tune.test_split=dev"};
  const ProgramResult whole = Search("whole", flags);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  std::vector<std::string> resumed_flags = flags;
  int kills = 0;
  for (int milliseconds = 60; kills < 12; milliseconds += 45) {
    const pid_t process = StartTandem(TuneArguments("killed", resumed_flags),
                                      {.out = Path("out"), .err = Path("err")});
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    ::kill(process, SIGKILL);
    int status = 0;
    ::waitpid(process, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    ++kills;
    const bool begun = std::filesystem::exists(Path("killed/journal.jsonl"));
    resumed_flags = flags;
    if (begun) {
      resumed_flags.push_back("--resume");
    } else {
      std::filesystem::remove_all(Path("killed"));
    }
  }
  EXPECT_GE(kills, 3);
  const ProgramResult last = Search("killed", resumed_flags);
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(ReadFile(Path("killed/journal.jsonl")), ReadFile(Path("whole/journal.jsonl")));
  EXPECT_EQ(ReadFile(Path("killed/recipe.toml")), ReadFile(Path("whole/recipe.toml")));

  // What the journal tells is written again where it was removed.
  std::filesystem::remove(Path("whole/recipe.toml"));
  std::filesystem::remove(Path("whole/tune.html"));
  std::filesystem::remove_all(Path("whole/soup"));
  const std::vector<std::filesystem::path> cut_short = {
      Path("whole/recipe.toml.tmp1"), Path("whole/base/dev.jsonl.tmp1"),
      Path("whole/trials/001/dev/step-00000001.jsonl.tmp1")};
  for (const auto& file : cut_short) WriteFileAtomically(file, "half a li");
  std::vector<std::string> again = flags;
  again.push_back("--resume");
  ASSERT_EQ(Search("whole", again).exit_code, 0);
  for (const auto& file : cut_short) EXPECT_FALSE(std::filesystem::exists(file)) << file;
  EXPECT_EQ(ReadFile(Path("killed/recipe.toml")), ReadFile(Path("whole/recipe.toml")));
  EXPECT_TRUE(std::filesystem::exists(Path("whole/tune.html")));
}

TEST_F(Tune, SaysNoWhereTrainingDoesNotHelp) {
  const ProgramResult result =
      Search("search", {"--budget", "60 steps", "--set", "optimizer.learning_rate=1e-9", "--set",
                        "tune.optimizer.learning_rate=[1e-9, 2e-9]"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("do not train: no configuration beats the base by more than "
                                    "chance (best "));
  EXPECT_THAT(result.out, HasSubstr("48 dev queries"));
  EXPECT_THAT(result.out, Not(HasSubstr("model: ")));
  EXPECT_FALSE(std::filesystem::exists(Path("search/recipe.toml")));
}

TEST_F(Tune, WatchesWhatIsLostElsewhereAndLooksAtTheTestOnce) {
  const ProgramResult result = Search(
      "search", {"--budget", "60 steps", "--set", fmt::format("tune.keep=[\"{}\"]", Path("other")),
                 "--set", "tune.keep_split=dev", "--set", Set("tune.test", "other"), "--set",
                 "tune.test_split=train"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(RowsOf("search", "average").size(), 3U);
  const Row choice = RowsOf("search", "choice").front();
  const size_t arms = choice["arms"].size();
  EXPECT_EQ(arms, RowsOf("search", "rung").size() > 0 ? 4U : 0U);  // one finalist, three averages
  EXPECT_EQ(RowsOf("search", "keep").size(), arms + 1);            // and the base
  bool border = false;
  for (const Row& arm : choice["arms"]) {
    EXPECT_TRUE(arm.contains("loss"));
    border |= arm["on_border"].get<bool>();
  }
  EXPECT_TRUE(border);
  EXPECT_EQ(RowsOf("search", "test").size(), 1U);
  EXPECT_THAT(result.out, HasSubstr("test, looked at once: ndcg@10 "));
  EXPECT_THAT(result.out, HasSubstr("0.25 of trial "));
  EXPECT_THAT(ReadFile(Path("search/tune.html")), HasSubstr("What is lost elsewhere"));
  EXPECT_TRUE(std::filesystem::exists(Path("search/figures/border.svg")));
}

// A budget that is larger than the space trains each of its configurations in full, once.
TEST_F(Tune, ALargeBudgetTrainsAllInFull) {
  const ProgramResult result =
      Search("search", {"--budget", "2000 steps", "--set", "tune.optimizer.learning_rate=[4e-3]",
                        "--set", "tune.objective.name=[\"infonce\"]", "--set", "tune.soup=false"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // The recipe as it is, and one rate at two temperatures.
  EXPECT_THAT(result.err, HasSubstr("5 trials: 3 configurations by successive halving, then 2 in "
                                    "full"));
  std::set<Row> in_full;
  const Row plan = RowsOf("search", "plan").front();
  std::vector<Row> configurations = plan["configurations"];
  for (const Row& draw : RowsOf("search", "draw")) configurations.push_back(draw["values"]);
  for (const Row& rung : RowsOf("search", "rung")) {
    if (rung["step"] != 36) continue;
    EXPECT_TRUE(in_full.insert(configurations[rung["trial"].get<size_t>() - 1]).second) << rung;
  }
  EXPECT_EQ(in_full.size(), 3U);
  EXPECT_EQ(RowsOf("search", "choice").front()["arms"].size(), 3U);
}

// What cannot be trained is not drawn again, and the search ends.
TEST_F(Tune, WhatCannotBeTrainedIsNotDrawnAgain) {
  const ProgramResult result = Search(
      "search", {"--budget", "2000 steps", "--set", "tune.optimizer.learning_rate=[4e-3]", "--set",
                 "tune.objective.name=[\"infonce\"]", "--set", "tune.objective.temperature=[0.05]",
                 "--set", "tune.model.dimensions=[[64], [96]]"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(RowsOf("search", "failed").size(), 2U);
  EXPECT_TRUE(RowsOf("search", "draw").empty());
  EXPECT_EQ(JournalOf("search").back()["event"], "end");
}

TEST_F(Tune, TrainsTheChoiceAgainOnTheValidationQueriesToo) {
  const ProgramResult result =
      Search("search", {"--budget", "40 steps", "--set", "tune.retrain=true", "--set",
                        "validation.data=" + Path("other")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(RowsOf("search", "retrained").size(), 1U);
  EXPECT_THAT(result.out, HasSubstr("model: " + Path("search/retrained/model")));
  // 96 queries in place of 48: 72 steps in 6 epochs.
  EXPECT_EQ(MetricOf("search/retrained", "step").back(), 72);
  EXPECT_THAT(ReadFile(Path("search/retrained/recipe.resolved.toml")),
              Not(HasSubstr("[validation]")));
}

TEST_F(Tune, ATrialThatCannotBeTrainedIsLast) {
  const ProgramResult result = Search(
      "search", {"--budget", "60 steps", "--set", "tune.model.dimensions=[[64], [96], [32, 16]]"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<Row> failed = RowsOf("search", "failed");
  ASSERT_FALSE(failed.empty());
  EXPECT_THAT(failed.front()["why"].get<std::string>(), HasSubstr("model.dimensions names "));
  for (const Row& row : RowsOf("search", "rung")) {
    for (const Row& one : failed) EXPECT_NE(row["trial"], one["trial"]);
  }
}

TEST_F(Tune, WithoutKeysTheSpaceIsThatOfTheData) {
  const std::string recipe = ReadFile(Path("recipe.toml"));
  WriteFileAtomically(Path("recipe.toml"), recipe.substr(0, recipe.find("[tune]")));
  const ProgramResult result = Search("search", {"--budget", "120 steps"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("the default space for pairs with judged negatives is searched: "
                        "data.negatives, model.train, objective.name, objective.temperature, "
                        "optimizer.learning_rate, train.epochs"));
}

}  // namespace
}  // namespace tandem
