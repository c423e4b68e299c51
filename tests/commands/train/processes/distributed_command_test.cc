// `tandem train` as several processes: what they write, and what happens when one is lost.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "commands/train/processes/distributed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Runs of which a process is disturbed in the middle.
class DistributedFaults : public DistributedTest {
 protected:
  static constexpr int kTimeoutSeconds = 4;

  void SetUp() override { TrainTogether(2, "whole", longer_); }

  // Starts two processes, and sends one of them a signal once they train. Their numbers are `first`
  // and the next.
  void Disturb(const std::string& output, int rank, int signal, size_t* first) {
    *first = children_.size();
    std::vector<std::string> flags = longer_;
    flags.insert(flags.end(), {"--timeout", fmt::format("{}", kTimeoutSeconds)});
    StartRanks(2, output, flags);
    ASSERT_TRUE(WaitForAStep(output, 2));
    ::kill(children_[*first + static_cast<size_t>(rank)], signal);
  }

  void ExpectTheSameAfter(const std::string& output, const std::vector<std::string>& further,
                          const EnvironmentVariables& variables = {}) {
    std::vector<std::string> flags = longer_;
    flags.insert(flags.end(), further.begin(), further.end());
    ASSERT_NO_FATAL_FAILURE(TrainTogether(2, output, flags, variables));
    ExpectSameFiles(output, "whole");
  }

  const std::vector<std::string> longer_ = {"--set", "train.epochs=12", "--set", "logging.every=1"};
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

// Rank 0 has the store and the run folder; a stopped process keeps its connections.
TEST_F(DistributedFaults, ALostProcessEndsTheOtherWithExit7) {
  struct Fault {
    int rank;
    int signal;
    std::string output;
    size_t first = 0;
  };
  std::vector<Fault> faults = {{0, SIGKILL, "killed-0"},
                               {1, SIGKILL, "killed-1"},
                               {0, SIGSTOP, "stopped-0"},
                               {1, SIGSTOP, "stopped-1"}};
  for (Fault& fault : faults) {
    ASSERT_NO_FATAL_FAILURE(Disturb(fault.output, fault.rank, fault.signal, &fault.first));
  }
  for (const Fault& fault : faults) {
    const ProgramResult other = WaitFor(fault.first + static_cast<size_t>(1 - fault.rank));
    EXPECT_EQ(other.exit_code, 7) << other.err;
    EXPECT_THAT(other.err,
                HasSubstr(fmt::format("this is rank {}: rank {} (", 1 - fault.rank, fault.rank)));
    ::kill(children_[fault.first + static_cast<size_t>(fault.rank)], SIGKILL);
  }
  WaitForAll();
  for (const Fault& fault : faults) {
    if (fault.output != "killed-1") ExpectTheSameAfter(fault.output, {"--resume"});
  }
  // As launchers start a job again: without --resume. torchrun counts for each machine.
  const int port = FreePort();
  EnvironmentVariables second = RankVariables(1, 2, port);
  second["TORCHELASTIC_RESTART_COUNT"] = "1";
  Start(RankVariables(0, 2, port), "killed-1", longer_);
  Start(second, "killed-1", longer_);
  for (const ProgramResult& result : WaitForAll()) ASSERT_EQ(result.exit_code, 0) << result.err;
  ExpectSameFiles("killed-1", "whole");
}

TEST_F(DistributedFaults, AnyNumberOfProcessesResumesACheckpoint) {
  size_t first = 0;
  ASSERT_NO_FATAL_FAILURE(Disturb("ended", 1, SIGTERM, &first));
  for (const ProgramResult& result : WaitForAll()) ASSERT_EQ(result.exit_code, 143) << result.err;
  std::vector<std::string> resume = longer_;
  resume.push_back("--resume");
  for (const int ranks : {1, 3}) {
    const std::string output = fmt::format("resumed-by-{}", ranks);
    std::filesystem::copy(Path("ended"), Path(output), std::filesystem::copy_options::recursive);
    ASSERT_NO_FATAL_FAILURE(TrainTogether(ranks, output, resume));
    const std::vector<double> want = MetricOf("whole", "loss"), got = MetricOf(output, "loss");
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << "line " << i;
  }
}

// Which of them is asked does not matter.
TEST_F(DistributedFaults, AskingOneProcessToEndSavesAndEndsAll) {
  const int signals[] = {SIGTERM, SIGINT};
  for (const int rank : {0, 1}) {
    const std::string output = fmt::format("ended-{}", rank);
    size_t first = 0;
    ASSERT_NO_FATAL_FAILURE(Disturb(output, rank, signals[rank], &first));
    const std::vector<ProgramResult> results = WaitForAll();
    for (const ProgramResult& result : results) {
      EXPECT_EQ(result.exit_code, 128 + signals[rank]) << result.err;
    }
    EXPECT_THAT(results[0].err, HasSubstr("is saved, continue with --resume"));
    EXPECT_THAT(results[1].err, IsEmpty());
    const double last = MetricOf(output, "step").back();
    EXPECT_EQ(CheckpointsOf(output).back(), fmt::format("step-{:08.0f}", last));
    ExpectTheSameAfter(output, {"--resume"});
  }
}

}  // namespace
}  // namespace tandem
