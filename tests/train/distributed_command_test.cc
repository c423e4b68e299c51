// `tandem train` as several processes: what they write, and what happens when one is lost.
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "train/distributed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Runs of which a process is disturbed in the middle.
class DistributedFaults : public DistributedTest {
 protected:
  static constexpr int kTimeoutSeconds = 4;

  void SetUp() override { TrainTogether(2, "whole", longer_); }

  // Starts two processes, and sends one of them a signal once they train.
  void Disturb(const std::string& output, int rank, int signal) {
    std::vector<std::string> flags = longer_;
    flags.insert(flags.end(), {"--timeout", fmt::format("{}", kTimeoutSeconds)});
    StartRanks(2, output, flags);
    ASSERT_TRUE(WaitForAStep(output));
    ::kill(children_[static_cast<size_t>(rank)], signal);
  }

  void ExpectLoss(int rank, int signal) {
    const std::string output = fmt::format("lost-{}-{}", rank, signal);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_NO_FATAL_FAILURE(Disturb(output, rank, signal));
    const ProgramResult other = WaitFor(static_cast<size_t>(1 - rank));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(other.exit_code, 7) << other.err;
    EXPECT_THAT(other.err, HasSubstr(fmt::format("this is rank {}: rank {}", 1 - rank, rank)));
    EXPECT_LT(seconds.count(), 60);  // a wait that only Gloo's own limit ended would last longer
    ::kill(children_[static_cast<size_t>(rank)], SIGKILL);
    ::waitpid(children_[static_cast<size_t>(rank)], nullptr, 0);
    children_.clear();
    ExpectTheSameAfterResuming(output);
  }

  void ExpectTheSameAfterResuming(const std::string& output) {
    std::vector<std::string> flags = longer_;
    flags.push_back("--resume");
    ASSERT_NO_FATAL_FAILURE(TrainTogether(2, output, flags));
    ExpectSameFiles(output, "whole");
  }

  const std::vector<std::string> longer_ = {"--set", "train.epochs=40", "--set", "logging.every=1"};
};

class DistributedCommand : public DistributedTest {};

TEST_F(DistributedCommand, TwoProcessesHaveTheLossesOfOneAndTheSameBytesTwice) {
  const std::vector<std::string> each = {"--set", "logging.every=1"};
  ASSERT_EQ(Train("one", each).exit_code, 0);
  TrainTogether(2, "two", each);
  TrainTogether(2, "again", each);
  ExpectSameFiles("again", "two");
  const std::vector<double> one = MetricOf("one", "loss"), two = MetricOf("two", "loss");
  ASSERT_GT(one.size(), 20);
  ASSERT_EQ(one.size(), two.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], two[i], 1e-6) << "line " << i;
}

// Some have no text of a batch, and some no query.
TEST_F(DistributedCommand, MoreProcessesThanQueriesOfABatch) {
  const std::vector<std::string> few = {"--set",          "train.batch=2", "--set",
                                        "train.epochs=1", "--set",         "logging.every=1"};
  ASSERT_EQ(Train("one", few).exit_code, 0);
  TrainTogether(3, "three", few);
  const std::vector<double> one = MetricOf("one", "loss"), three = MetricOf("three", "loss");
  ASSERT_GT(one.size(), 10);
  ASSERT_EQ(one.size(), three.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], three[i], 1e-6) << "line " << i;
}

// Rank 0 has the store and the run folder; a stopped process keeps its connections.
TEST_F(DistributedFaults, ALostProcessEndsTheOtherWithExit7) {
  for (const int rank : {0, 1}) {
    for (const int signal : {SIGKILL, SIGSTOP}) {
      ASSERT_NO_FATAL_FAILURE(ExpectLoss(rank, signal)) << rank << " " << signal;
    }
  }
}

// Which of them is asked does not matter.
TEST_F(DistributedFaults, AskingOneProcessToEndSavesAndEndsAll) {
  const int signals[] = {SIGTERM, SIGINT};
  for (const int rank : {0, 1}) {
    const std::string output = fmt::format("ended-{}", rank);
    ASSERT_NO_FATAL_FAILURE(Disturb(output, rank, signals[rank]));
    const std::vector<ProgramResult> results = WaitForAll();
    for (const ProgramResult& result : results) {
      EXPECT_EQ(result.exit_code, 128 + signals[rank]) << result.err;
    }
    EXPECT_THAT(results[0].err, HasSubstr("is saved, continue with --resume"));
    EXPECT_THAT(results[1].err, IsEmpty());
    const double last = MetricOf(output, "step").back();
    EXPECT_EQ(CheckpointsOf(output).back(), fmt::format("step-{:08.0f}", last));
    ExpectTheSameAfterResuming(output);
  }
}

// As torchrun starts a job again: without --resume.
TEST_F(DistributedFaults, ALaunchersRestartResumes) {
  ASSERT_NO_FATAL_FAILURE(Disturb("run", 1, SIGKILL));
  EXPECT_EQ(WaitFor(0).exit_code, 7);
  ::waitpid(children_[1], nullptr, 0);
  children_.clear();
  const int port = FreePort();
  for (const int rank : {0, 1}) {
    EnvironmentVariables variables = RankVariables(rank, 2, port);
    variables["TORCHELASTIC_RESTART_COUNT"] = "1";
    Start(variables, "run", longer_);
  }
  for (const ProgramResult& result : WaitForAll()) EXPECT_EQ(result.exit_code, 0) << result.err;
  ExpectSameFiles("run", "whole");
}

}  // namespace
}  // namespace tandem
