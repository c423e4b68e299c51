// `tandem train` with each sampler: how long runs are, what a resumed one leaves, what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class SamplingCommand : public EventfulRunTest {
 protected:
  static std::vector<std::string> Flags(const std::string& sampler,
                                        const std::vector<std::string>& sets = {}) {
    std::vector<std::string> all = {"sampling.name=" + sampler, "train.keep_checkpoints=100"};
    all.insert(all.end(), sets.begin(), sets.end());
    return SetFlags(all);
  }

  int Validations(const std::string& output) const {
    const std::string text = ReadFile(Path(output + "/metrics.jsonl"));
    int count = 0;
    for (size_t at = text.find("\"event\":\"validation\""); at != std::string::npos;
         at = text.find("\"event\":\"validation\"", at + 1)) {
      ++count;
    }
    return count;
  }
};

TEST_F(SamplingCommand, EverySamplerGoesOnFromEveryCheckpoint) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> samplers = {
      {"random_pruning", {"sampling.keep=0.5"}},
      {"static_pruning", {"sampling.keep=0.5"}},
      {"static_pruning", {"sampling.keep=0.4", "sampling.score=consistency"}},
      {"dynamic_pruning", {"sampling.update_interval=2"}},
      {"dynamic_pruning", {"sampling.keep=0.8", "train.steps=17"}},
      {"infobatch", {}}};
  int number = 0;
  for (const auto& [sampler, sets] : samplers) {
    const std::string output = fmt::format("{}-{}", sampler, number++);
    const ProgramResult whole = Train(output, Flags(sampler, sets));
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    const bool keeps = sampler == "dynamic_pruning" || sampler == "infobatch";
    EXPECT_EQ(std::filesystem::exists(Path(output + "/checkpoints/" + CheckpointsOf(output)[0] +
                                           "/sampler.safetensors")),
              keeps);
    // Those that begin with scores of the base model write them down.
    EXPECT_EQ(std::filesystem::exists(Path(output + "/sampling/first-scores.bin")),
              sampler == "static_pruning" || sampler == "dynamic_pruning")
        << sampler;
    ExpectTheSameFromEveryCheckpoint(output, Flags(sampler, sets));
  }
}

// Both decide while the run goes on; their rounds follow the passes, not the steps.
TEST_F(SamplingCommand, SamplersThatLearnMineTheSameFromEveryCheckpoint) {
  const std::vector<std::string> sets = {"mining.every=\"15%\"", "mining.range=0:20"};
  for (const char* sampler : {"dynamic_pruning", "infobatch"}) {
    const ProgramResult whole = Train(sampler, Flags(sampler, sets));
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    const std::string metrics = ReadFile(Path(std::string(sampler) + "/metrics.jsonl"));
    EXPECT_THAT(metrics, HasSubstr("\"mining_round\":6,")) << sampler;
    ExpectTheSameFromEveryCheckpoint(sampler, Flags(sampler, sets));
  }
}

// Training does not need the record of its pass: a run whose record was lost goes on, and what is
// there in the end is whole or has no end.
TEST_F(SamplingCommand, ARunGoesOnWithoutTheRecordOfItsPass) {
  const std::vector<std::string> flags =
      Flags("dynamic_pruning", {"train.checkpoint_every=\"1 steps\""});
  ASSERT_EQ(Train("whole", flags).exit_code, 0);
  std::vector<std::string> resumed = flags;
  resumed.push_back("--resume");
  const std::string lost = "/sampling/pass-00000001.bin";
  const auto back_to = [&](const std::string& output, int step) {
    std::filesystem::remove_all(Path(output + "/model"));
    for (const std::string& name : CheckpointsOf(output)) {
      if (name > fmt::format("step-{:08}", step)) {
        std::filesystem::remove_all(Path(output + "/checkpoints/" + name));
      }
    }
  };
  const auto expect_whole_but_lost = [&](const std::string& output) {
    Contents want = FilesOf("whole"), got = FilesOf(output);
    for (Contents* files : {&want, &got}) {
      std::erase_if(*files, [&](const auto& file) {
        return file.first == lost.substr(1) || file.first.ends_with("state.json");
      });
    }
    EXPECT_EQ(got, want);
  };
  // A pass has 30 queries, a step 10: after step 4 the second pass is under way.
  for (const std::string damage : {"removed", "cut", "altered"}) {
    std::filesystem::copy(Path("whole"), Path(damage), std::filesystem::copy_options::recursive);
    back_to(damage, 4);
    std::string bytes = ReadFile(Path("whole" + lost));
    if (damage == "removed") std::filesystem::remove(Path(damage + lost));
    if (damage == "cut") bytes.resize(420);  // after its first part
    if (damage == "altered") bytes[0] = 'X';
    if (damage != "removed") WriteFileAtomically(Path(damage + lost), bytes);
    const ProgramResult result = Train(damage, resumed);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("the run goes on without it, and has records again"));
    expect_whole_but_lost(damage);
    EXPECT_EQ(std::filesystem::exists(Path(damage + lost)), damage != "removed");
    if (damage != "removed") {
      EXPECT_EQ(ReadFile(Path(damage + lost)), bytes);
    }
    const ProgramResult inspected = RunTandem({"inspect", Path(damage)});
    EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
    EXPECT_EQ(inspected.out.find("pass-00000001.bin is damaged") != std::string::npos,
              damage == "altered");
    back_to(damage, 5);  // the same pass, whose checkpoint knows
    const ProgramResult again = Train(damage, resumed);
    ASSERT_EQ(again.exit_code, 0) << again.err;
    expect_whole_but_lost(damage);
  }
}

TEST_F(SamplingCommand, InspectSumsUpThePasses) {
  const ProgramResult run = Train("dynamic", Flags("dynamic_pruning"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const ProgramResult inspected = RunTandem({"inspect", Path("dynamic"), "--format", "json"});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  const nlohmann::json found = nlohmann::json::parse(inspected.out);
  EXPECT_EQ(found["sampling"], "dynamic_pruning");
  ASSERT_EQ(found["passes"].size(), 6);
  for (size_t pass = 0; pass < 6; ++pass) {
    const nlohmann::json& row = found["passes"][pass];
    EXPECT_EQ(row["pass"], pass);
    EXPECT_EQ(row["queries"], 30);  // of 48: 48 * 0.75 / 2 + 12
    EXPECT_EQ(row["left_out"], 18);
    EXPECT_TRUE(row.contains("mean_score_left_out"));
  }
  ASSERT_EQ(Train("uniform", {}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("uniform/sampling")));
}

// A run of 6 epochs is as long as the passes turn out to be, and what is due at a share of the run
// follows its progress.
TEST_F(SamplingCommand, EpochsArePassesHoweverLongTheyAre) {
  const std::vector<std::string> shares = {"train.checkpoint_every=\"25%\"",
                                           "validation.every=\"50%\"", "logging.every=1",
                                           "schedule.warmup=\"10%\""};
  const ProgramResult uniform = Train("uniform", Flags("uniform", shares));
  const ProgramResult infobatch = Train("infobatch", Flags("infobatch", shares));
  ASSERT_EQ(uniform.exit_code, 0) << uniform.err;
  ASSERT_EQ(infobatch.exit_code, 0) << infobatch.err;
  EXPECT_THAT(infobatch.err, HasSubstr("about 30 steps"));
  const std::vector<double> steps = MetricOf("infobatch", "step");
  EXPECT_LT(steps.back(), MetricOf("uniform", "step").back());
  const std::vector<double> epochs = MetricOf("infobatch", "epoch");
  EXPECT_NEAR(epochs.back(), 6, 0.2);  // the last step has two batches
  EXPECT_LT(epochs[epochs.size() - 2], 6);
  EXPECT_EQ(CheckpointsOf("infobatch").size(), 4);
  // Before training, in the middle, at the end; the last line of the file has the best value again.
  EXPECT_EQ(MetricOf("infobatch", "best_ndcg@10").size(), 1);
  EXPECT_EQ(Validations("infobatch"), 3);
  const std::vector<double> rates = MetricOf("infobatch", "learning_rate");
  EXPECT_LT(rates.front(), 5e-4);
  EXPECT_LT(rates.back(), 1e-4);
  for (size_t i = 5; i < rates.size(); ++i) EXPECT_LT(rates[i], rates[i - 1]);
  ExpectTheSameFromEveryCheckpoint("infobatch", Flags("infobatch", shares));
}

TEST_F(SamplingCommand, ARunThatFollowsItsLengthCannotBecomeLonger) {
  const std::vector<std::string> begun = {"train.steps=8", "schedule.name=constant"};
  const std::vector<std::string> longer = {"train.steps=12", "schedule.name=constant"};
  for (const char* sampler : {"dynamic_pruning", "infobatch", "random_pruning"}) {
    ASSERT_EQ(Train(sampler, Flags(sampler, begun)).exit_code, 0);
    std::vector<std::string> flags = Flags(sampler, longer);
    flags.push_back("--resume");
    const ProgramResult result = Train(sampler, flags);
    if (std::string(sampler) == "random_pruning") {
      EXPECT_EQ(result.exit_code, 0) << result.err;
    } else {
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_THAT(result.err,
                  HasSubstr(fmt::format("its sampler {} spreads what it does over the whole run",
                                        sampler)));
    }
  }
}

TEST_F(SamplingCommand, RefusesKeysThatLeaveNothingOrDoNothing) {
  const auto error_of = [this](const std::string& sampler, const std::string& set) {
    const ProgramResult result = Train("none", Flags(sampler, {set}));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_FALSE(std::filesystem::exists(Path("none")));
    return result.err;
  };
  EXPECT_THAT(error_of("random_pruning", "sampling.keep=0.001"),
              HasSubstr("sampling.keep is 0.001, which leaves none of"));
  EXPECT_THAT(error_of("static_pruning", "sampling.keep=1.5"),
              HasSubstr("sampling.keep must be from 0 to 1"));
  EXPECT_THAT(error_of("uniform", "sampling.keep=0.5"), HasSubstr("sampling.keep"));
  EXPECT_THAT(error_of("dynamic_pruning", "sampling.score=consistency"), HasSubstr("keep below 1"));
  EXPECT_THAT(error_of("dynamic_prunning", "seed=1"), HasSubstr("did you mean dynamic_pruning"));
}

}  // namespace
}  // namespace tandem
