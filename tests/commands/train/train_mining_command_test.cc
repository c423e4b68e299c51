// `tandem train` with [mining]: what a round finds, that training uses it, that a resumed run mines
// what an untouched one does, and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands/train/run_fixture.h"
#include "weights/safetensors/safetensors.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using Lists = std::vector<std::vector<uint32_t>>;

class MiningCommand : public EventfulRunTest {
 protected:
  MiningCommand() {
    ::setenv("TANDEM_CACHE", Path("cache").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }

  // 48 queries make 5 steps a pass, 30 steps in all.
  static std::vector<std::string> Mining(const std::vector<std::string>& sets = {}) {
    std::vector<std::string> all = {"mining.every=\"6 steps\"", "mining.range=2:20",
                                    "mining.negatives=4"};
    all.insert(all.end(), sets.begin(), sets.end());
    return SetFlags(all);
  }

  // With a checkpoint after every step.
  static std::vector<std::string> Kept(std::vector<std::string> sets) {
    sets.insert(sets.end(), {"train.keep_checkpoints=100", "train.checkpoint_every=\"1 steps\""});
    return Mining(sets);
  }

  // The mined documents of each query that the checkpoint of `step` has.
  Lists PoolAt(const std::string& output, int step) const {
    const weights::SafetensorsFile file(
        Path(fmt::format("{}/checkpoints/step-{:08}/sampler.safetensors", output, step)));
    const auto numbers = [&](const char* name) {
      const weights::TensorView* view = file.Find(name);
      std::vector<uint32_t> values(view->elements());
      std::memcpy(values.data(), view->bytes.data(), view->bytes.size());
      return values;
    };
    const std::vector<uint32_t> starts = numbers("mined/starts");
    const std::vector<uint32_t> documents = numbers("mined/documents");
    Lists lists;
    for (size_t q = 0; q + 1 < starts.size(); ++q) {
      lists.emplace_back(documents.begin() + starts[q], documents.begin() + starts[q + 1]);
    }
    return lists;
  }

  // What `tandem mine` finds with `model`: the documents of each line, whose texts end in their
  // numbers, without the one that is judged irrelevant.
  Lists MinedWith(const std::string& model, const std::vector<std::string>& flags) const {
    std::vector<std::string> words = {"mine",
                                      "--threads",
                                      "1",
                                      "--precision",
                                      "fp32",
                                      "--model",
                                      Path(model),
                                      "--dataset",
                                      Path("data"),
                                      "--positive-grade",
                                      "2",
                                      "--output",
                                      Path("mined.jsonl")};
    words.insert(words.end(), flags.begin(), flags.end());
    std::filesystem::remove(Path("mined.jsonl"));
    const ProgramResult result = RunTandem(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::istringstream lines(ReadFile(Path("mined.jsonl")));
    Lists lists;
    for (std::string line; std::getline(lines, line);) {
      const uint32_t irrelevant = static_cast<uint32_t>(lists.size() + 2) % 60;
      lists.emplace_back();
      const std::vector<std::string> texts = nlohmann::json::parse(line)["neg"];
      for (const std::string& text : texts) {
        const auto number = static_cast<uint32_t>(std::stoul(text.substr(text.rfind(' ') + 1)));
        if (number != irrelevant) lists.back().push_back(number);
      }
    }
    return lists;
  }

  // The lines of metrics.jsonl that say what a round found.
  std::vector<nlohmann::json> Rounds(const std::string& output) const {
    std::vector<nlohmann::json> rounds;
    std::istringstream lines(ReadFile(Path(output + "/metrics.jsonl")));
    for (std::string text; std::getline(lines, text);) {
      auto line = nlohmann::json::parse(text);
      if (line["event"] == "mining") rounds.push_back(std::move(line));
    }
    return rounds;
  }
};

// Runs of 6 and 12 steps end with the weights that the run of 30 has then.
TEST_F(MiningCommand, ARoundMinesWhatMineDoesWithTheModelOfThatStep) {
  const std::vector<std::string> rules = {"--range", "2:20", "--negatives", "4"};
  const auto flags = [](const std::string& steps) {
    return Kept({"schedule.name=constant", "schedule.warmup=0", "train.steps=" + steps});
  };
  ASSERT_EQ(Train("whole", flags("30")).exit_code, 0);
  EXPECT_EQ(PoolAt("whole", 1), MinedWith("base", rules));
  EXPECT_EQ(PoolAt("whole", 6), PoolAt("whole", 1));
  for (const auto& [steps, after] : {std::pair(6, 7), std::pair(12, 18)}) {
    const std::string output = fmt::format("of{}", steps);
    std::vector<std::string> shorter = flags(std::to_string(steps));
    // Without validation the last weights are saved.
    WriteFileAtomically(Path("short.toml"), [&] {
      std::string text = ReadFile(Path("recipe.toml"));
      const size_t begin = text.find("[validation]");
      return text.erase(begin, text.find("[logging]") - begin);
    }());
    std::vector<std::string> words = {"train", Path("short.toml"), "--output", Path(output)};
    words.insert(words.end(), shorter.begin(), shorter.end());
    const ProgramResult result = RunTandem(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Lists mined = MinedWith(output + "/model", rules);
    EXPECT_EQ(PoolAt("whole", after), mined);
    EXPECT_NE(PoolAt("whole", 1), mined) << "nothing moved, so that this test shows nothing";
  }
}

// Each margin by itself takes something out.
TEST_F(MiningCommand, MarginsAndDrawsAreThoseOfMine) {
  const std::vector<std::string> rules = {"--range", "0:30", "--negatives", "6",
                                          "--seed",  "3",    "--random"};
  const Lists all = MinedWith("base", rules);
  for (const auto& [key, flag] : {std::pair("mining.absolute_margin", "--absolute-margin"),
                                  std::pair("mining.relative_margin", "--relative-margin")}) {
    const ProgramResult result =
        Train(key, Kept({"mining.range=0:30", "mining.negatives=6", "mining.random=true",
                         std::string(key) + "=0.03", "train.steps=1"}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> with_margin = rules;
    with_margin.insert(with_margin.end(), {flag, "0.03"});
    EXPECT_EQ(PoolAt(key, 1), MinedWith("base", with_margin));
    EXPECT_NE(PoolAt(key, 1), all);
    EXPECT_GT(Rounds(key).at(0)["mining_left_out_by_margins"].get<int>(), 0);
  }
}

TEST_F(MiningCommand, MetricsSayWhatEachRoundFound) {
  const ProgramResult result = Train("run", Mining({"mining.range=50:59", "mining.negatives=9"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("step 0: for 48 of 48 queries fewer negatives were mined than "
                                    "mining.negatives asks for, for 0 of them none: widen "
                                    "mining.range\n"));
  const std::vector<nlohmann::json> rounds = Rounds("run");
  ASSERT_EQ(rounds.size(), 5);  // before steps 1, 7, 13, 19 and 25; not after step 30
  for (size_t r = 0; r < rounds.size(); ++r) {
    EXPECT_EQ(rounds[r]["step"], 6 * r);
    const nlohmann::json& found = rounds[r];
    EXPECT_EQ(found["mining_round"], r);
    EXPECT_EQ(found["mining_queries"], 48);
    // 60 documents, of which two are relevant: ranks 50 to 57.
    EXPECT_EQ(found["mining_negatives"], 48 * 8);
    EXPECT_EQ(found["mining_fewer"], 48);
    EXPECT_EQ(found["mining_without"], 0);
    EXPECT_LT(found["mining_mean_score"].get<double>(),
              found["mining_mean_positive_score"].get<double>());
  }
  const std::string timing = ReadFile(Path("run/timing.jsonl"));
  EXPECT_THAT(timing, HasSubstr("{\"event\":\"mining\",\"step\":24,\"seconds\":"));
}

// Without judged negatives each query brings one mined document: data.negatives is 1 then.
TEST_F(MiningCommand, StepsDrawMinedDocuments) {
  std::string train = "query-id\tcorpus-id\tscore\n";
  for (int q = 0; q < 48; ++q) train += fmt::format("q{0}\td{0}\t2\n", q);
  WriteFileAtomically(Path("data/qrels/train.tsv"), train);
  WriteFileAtomically(Path("recipe.toml"), [&] {
    std::string text = ReadFile(Path("recipe.toml"));
    return text.replace(text.find("negatives = 1\n"), 14, "");
  }());
  ASSERT_EQ(Train("without", {"--set", "train.steps=8"}).exit_code, 0);
  const ProgramResult mined = Train("mined", Mining({"train.steps=8"}));
  ASSERT_EQ(mined.exit_code, 0) << mined.err;
  EXPECT_THAT(mined.err, HasSubstr("data.negatives = 1: "));
  const std::vector<double> tokens = MetricOf("mined", "tokens");
  const std::vector<double> fewer = MetricOf("without", "tokens");
  ASSERT_FALSE(tokens.empty());
  EXPECT_GT(tokens.back(), 1.3 * fewer.back());
  // More and harder negatives: a higher loss from the first line on.
  EXPECT_GT(MetricOf("mined", "loss").front(), MetricOf("without", "loss").front());
}

// Only the base model's embeddings are worth keeping.
TEST_F(MiningCommand, OnlyTheFirstRoundIsInTheCache) {
  ASSERT_EQ(Train("run", Mining()).exit_code, 0);
  const auto entries = std::filesystem::directory_iterator(Path("cache/embeddings"));
  EXPECT_EQ(std::count_if(begin(entries), end(entries),
                          [](const auto& e) { return e.path().extension() == ".embeddings"; }),
            2);
  EXPECT_FALSE(std::filesystem::exists(Path("run/mining")));
}

// Embeddings that do not fit half of mining.memory go to a file of the run folder for the time of
// the round.
class MiningInAFile : public MiningCommand {
 protected:
  MiningInAFile() {
    WriteTinyData(folder_.path() / "data", TinyWords(), {.documents = 20000, .queries = 20});
  }
  static std::vector<std::string> Tight(const char* memory = "4MiB") {
    return Kept(
        {"train.steps=8", "validation.every=100 steps", std::string("mining.memory=") + memory});
  }
  bool UnderWay(const std::string& output) const {
    return std::filesystem::exists(Path(output + "/mining/embeddings"));
  }
};

TEST_F(MiningInAFile, FindsWhatARoundInMemoryFindsAndLeavesNothing) {
  const ProgramResult roomy = Train("roomy", Tight("2GiB"));
  ASSERT_EQ(roomy.exit_code, 0) << roomy.err;
  const ProgramResult tight = Train("tight", Tight());
  ASSERT_EQ(tight.exit_code, 0) << tight.err;
  EXPECT_FALSE(std::filesystem::exists(Path("tight/mining")));
  EXPECT_EQ(PoolAt("tight", 7), PoolAt("roomy", 7));
  EXPECT_NE(PoolAt("tight", 7), PoolAt("tight", 1));
}

// The signal comes while a round encodes; where it came too late, there is another try. What the
// round leaves is used or removed.
TEST_F(MiningInAFile, EndedInARoundItMinesTheSameAgain) {
  const ProgramResult whole = Train("whole", Tight());
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  for (const int signal : {SIGINT, SIGKILL}) {
    std::string output;
    int status = 0;
    for (int attempt = 0; attempt < 50 && (attempt == 0 || !UnderWay(output)); ++attempt) {
      output = fmt::format("signal{}-{}", signal, attempt);
      const pid_t child = StartTandem(Arguments(output, Tight()), {.err = Path("child.err")});
      while (!UnderWay(output) && ::waitpid(child, &status, WNOHANG) == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      ::kill(child, signal);
      ::waitpid(child, &status, 0);
    }
    ASSERT_TRUE(UnderWay(output)) << "the rounds were over";
    if (signal == SIGINT) {
      EXPECT_EQ(WEXITSTATUS(status), 130);
      EXPECT_THAT(ReadFile(Path("child.err")), HasSubstr("step-00000006 is saved, continue with"));
    }
    WriteFileAtomically(Path(output + "/mining/embeddings/0.embeddings"), "of another round");
    std::vector<std::string> again = Tight();
    again.push_back("--resume");
    const ProgramResult resumed = Train(output, again);
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    ExpectSameFiles(output, "whole");
  }
}

TEST_F(MiningCommand, ALongerRunMinesAtTheSameSteps) {
  const auto flags = [](const std::string& steps, const std::string& every) {
    return Mining({"schedule.name=constant", "schedule.warmup=\"2 steps\"", "train.steps=" + steps,
                   "mining.every=" + every});
  };
  ASSERT_EQ(Train("whole", flags("20", "\"4 steps\"")).exit_code, 0);
  ASSERT_EQ(Train("longer", flags("12", "\"33%\"")).exit_code, 0);
  std::vector<std::string> more = flags("20", "\"33%\"");
  more.push_back("--resume");
  const ProgramResult longer = Train("longer", more);
  ASSERT_EQ(longer.exit_code, 0) << longer.err;
  ExpectSameFiles("longer", "whole");
}

TEST_F(MiningCommand, CheckSaysWhatARoundIs) {
  std::vector<std::string> flags = Mining();
  flags.push_back("--check");
  const ProgramResult result = Train("", flags);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("mining: before the first step and every 6 steps from there: 4 negatives a "
                        "query at ranks 2:20; a round encodes 48 queries and 60 documents\n"));
  EXPECT_THAT(result.out, HasSubstr("a round of mining"));
  EXPECT_THAT(result.out, HasSubstr("documents: 60 used"));
}

TEST_F(MiningCommand, GradedObjectivesTakeMinedDocumentsAsIrrelevant) {
  for (const char* objective : {"bixse", "lambda_loss", "soft_infonce", "pairwise_bce"}) {
    const std::string name = std::string("objective.name=") + objective;
    const ProgramResult result =
        Train(objective, Mining({name, "data.grade_scale=[0, 2]", "train.steps=8"}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(Rounds(objective).size(), 2) << objective;
  }
}

struct Refusal {
  std::vector<std::string> sets;
  int exit_code;
  std::string message;
};

TEST_F(MiningCommand, WhatCannotBeMinedSaysWhy) {
  const std::vector<Refusal> refusals = {
      {{"mining.every=0"},
       2,
       "mining.every must be more than 0; to mine never, leave out [mining]"},
      {{"mining.range=58:200", "train.steps=1"}, 0, ""},
      {{"mining.range=59:200"},
       2,
       "mining.range \"59:200\" begins beyond the corpus, which has 60 different texts; give a "
       "lower range"},
      {{"mining.range=9:9"},
       2,
       "mining.range must be FIRST:END, two ranks that count from 0 with FIRST below END, as "
       "\"10:200\"; found \"9:9\""},
      {{"mining.range=many"}, 2, "found \"many\""},
      {{"mining.negatives=19"},
       2,
       "mining.negatives asks for 19, but mining.range = \"2:20\" has 18 ranks"},
      {{"mining.absolute_margin=-1"}, 2, "mining.absolute_margin must be from 0"},
      {{"mining.relative_margin=1.5"}, 2, "mining.relative_margin must be from 0 to 1"},
      {{"mining.memory=much"},
       2,
       "mining.memory must be an amount as \"2GiB\" or \"500MiB\", found \"much\""},
      {{"mining.memory=1KiB"}, 2, "mining.memory is \"1KiB\", less than the "},
      {{"data.negatives=0"},
       2,
       "data.negatives is 0, so that no step would draw what is mined; give at least 1, or leave "
       "out [mining]"},
      {{"data.negatives=9"},
       2,
       "data.negatives asks for 9 of each query, but no query gets more than 5: raise "
       "mining.negatives (4), or lower it"}};
  int number = 0;
  for (const Refusal& refusal : refusals) {
    const ProgramResult result = Train(fmt::format("run{}", number++), Mining(refusal.sets));
    EXPECT_EQ(result.exit_code, refusal.exit_code) << refusal.sets[0] << result.err;
    EXPECT_THAT(result.err, HasSubstr(refusal.message));
    if (refusal.exit_code == 0) continue;
    EXPECT_THAT(result.err, HasSubstr("--set " + refusal.sets[0]));
  }
}

TEST_F(MiningCommand, KeysWithoutMiningAndAnEmptyTableAreErrors) {
  const ProgramResult idle = Train("run", {"--set", "mining.range=2:20"});
  EXPECT_EQ(idle.exit_code, 2);
  EXPECT_THAT(idle.err, HasSubstr("mining.range does nothing here: it needs mining.every"));
  WriteFileAtomically(Path("recipe.toml"), ReadFile(Path("recipe.toml")) + "[mining]\n");
  const ProgramResult empty = Train("run");
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, HasSubstr("mining needs every"));
}

// Objectives that learn from a teacher's scores have none for what is mined.
TEST_F(MiningCommand, TeachersHaveNoScoresForMinedDocuments) {
  for (const char* objective : {"margin_mse", "kl_distillation"}) {
    const ProgramResult result = Train("run", Mining({std::string("objective.name=") + objective}));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err,
                HasSubstr(fmt::format("mining.every does not go with objective {}, which compares "
                                      "documents by a teacher's scores",
                                      objective)));
  }
}

TEST_F(MiningCommand, ACorpusOfOneTextHasNothingToMine) {
  std::string corpus;
  for (int d = 0; d < 60; ++d)
    corpus += fmt::format("{{\"_id\": \"d{}\", \"text\": \"one\"}}\n", d);
  WriteFileAtomically(Path("data/corpus.jsonl"), corpus);
  const ProgramResult result = Train("run", Mining());
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("the corpus holds one text only"));
}

}  // namespace
}  // namespace tandem
