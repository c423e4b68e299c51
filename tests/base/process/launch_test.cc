#include "base/process/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Values = std::map<std::string, std::string>;

Launch Read(const Values& values) {
  return ReadLaunch([&values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  });
}

Values Without(Values values, const std::string& name) {
  values.erase(name);
  return values;
}

Values With(Values values, const std::string& name, const std::string& value) {
  values[name] = value;
  return values;
}

TEST(LaunchTest, AJobOfOneNeedsNoRank) { EXPECT_TRUE(Read({{"WORLD_SIZE", "1"}}).alone()); }

const Values kTorchrun = {{"RANK", "3"},
                          {"WORLD_SIZE", "4"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "2"},
                          {"MASTER_ADDR", "host1"},
                          {"MASTER_PORT", "29400"},
                          {"TORCHELASTIC_RUN_ID", "none"},
                          {"TORCHELASTIC_RESTART_COUNT", "2"}};

TEST(LaunchTest, AProcessWithoutLauncherIsAlone) {
  const Launch launch = Read({});
  EXPECT_TRUE(launch.alone());
  EXPECT_EQ(launch.rank, 0);
  EXPECT_EQ(launch.launcher, "");
}

TEST(LaunchTest, ReadsTorchrun) {
  const Launch launch = Read(kTorchrun);
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.ranks, 4);
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.local_ranks, 2);
  EXPECT_EQ(launch.address, "host1");
  EXPECT_EQ(launch.port, 29400);
  EXPECT_EQ(launch.launcher, "torchrun");
  EXPECT_EQ(launch.restarts, 2);
}

TEST(LaunchTest, LeavesThePortOfTorchrunsAgentAlone) {
  EXPECT_EQ(Read(With(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "True")).port, 29401);
  EXPECT_EQ(Read(With(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "False")).port, 29400);
}

TEST(LaunchTest, ReadsKubernetes) {
  const Launch launch =
      Read({{"JOB_COMPLETION_INDEX", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "train-0.train"}});
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.ranks, 2);
  EXPECT_EQ(launch.local_ranks, 1);
  EXPECT_EQ(launch.port, 29500);
  EXPECT_EQ(launch.launcher, "Kubernetes");
}

TEST(LaunchTest, AnIndexedJobAloneIsNoGroup) {
  EXPECT_TRUE(Read({{"JOB_COMPLETION_INDEX", "1"}}).alone());
}

const Values kSlurm = {{"SLURM_PROCID", "4"},
                       {"SLURM_STEP_NUM_TASKS", "7"},
                       {"SLURM_LOCALID", "1"},
                       {"SLURM_NODEID", "2"},
                       {"SLURM_STEP_TASKS_PER_NODE", "1,2(x3)"},
                       {"SLURM_STEP_NODELIST", "node[07-09,12],login1"},
                       {"SLURM_JOB_ID", "123"},
                       {"SLURM_STEP_ID", "0"},
                       {"SLURM_RESTART_COUNT", "1"}};

TEST(LaunchTest, ReadsSlurm) {
  const Launch launch = Read(kSlurm);
  EXPECT_EQ(launch.rank, 4);
  EXPECT_EQ(launch.ranks, 7);
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.local_ranks, 2);
  EXPECT_EQ(launch.address, "node07");
  EXPECT_EQ(launch.port, 10000 + 123 * 16);
  EXPECT_EQ(launch.restarts, 1);
}

TEST(LaunchTest, ANumberOfALargeSlurmJobMakesAPort) {
  const int port = Read(With(kSlurm, "SLURM_JOB_ID", "2000000000")).port;
  EXPECT_GE(port, 10000);
  EXPECT_LT(port, 30000);
}

TEST(LaunchTest, TwoStepsOfASlurmJobHaveDifferentPorts) {
  EXPECT_NE(Read(kSlurm).port, Read(With(kSlurm, "SLURM_STEP_ID", "1")).port);
}

TEST(LaunchTest, MasterAddressWinsOverSlurmsFirstMachine) {
  const Launch launch = Read(With(With(kSlurm, "MASTER_ADDR", "10.0.0.1"), "MASTER_PORT", "4000"));
  EXPECT_EQ(launch.address, "10.0.0.1");
  EXPECT_EQ(launch.port, 4000);
}

TEST(LaunchTest, ABatchScriptOfSlurmIsAlone) {
  EXPECT_TRUE(Read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "5"}}).alone());
}

// What salloc gives a shell on a machine of the job.
TEST(LaunchTest, AnInteractiveStepOfSlurmIsAlone) {
  EXPECT_TRUE(Read({{"SLURM_PROCID", "0"},
                    {"SLURM_STEP_NUM_TASKS", "1"},
                    {"SLURM_JOB_ID", "4000000000"},
                    {"SLURM_STEP_ID", "4294967290"}})
                  .alone());
}

TEST(LaunchTest, AJobThatSlurmStartedAgainIsRestartedWhateverStartsItsProcesses) {
  EXPECT_EQ(Read({{"SLURM_JOB_ID", "5"}, {"SLURM_RESTART_COUNT", "2"}}).restarts, 2);
  Values torchrun = With(kTorchrun, "SLURM_RESTART_COUNT", "1");
  EXPECT_EQ(Read(torchrun).restarts, 3);
  EXPECT_EQ(Read(With(torchrun, "TORCHELASTIC_RESTART_COUNT", "0")).restarts, 1);
}

const Values kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};

TEST(LaunchTest, MpirunInsideOfSlurmDecides) {
  Values values = kOpenMpi;
  const Values shell = With(kSlurm, "SLURM_STEP_NUM_TASKS", "1");
  values.insert(shell.begin(), shell.end());
  EXPECT_EQ(Read(values).launcher, "mpirun");
  EXPECT_EQ(Read(values).ranks, 2);
}

TEST(LaunchTest, ReadsOpenMpi) {
  const Values& values = kOpenMpi;
  const Launch launch = Read(values);
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.address, "127.0.0.1");
  EXPECT_THAT([&] { Read(With(values, "OMPI_COMM_WORLD_SIZE", "4")); },
              ThrowsMessage<UsageError>(HasSubstr("mpirun -x MASTER_ADDR=")));
}

TEST(LaunchTest, APlaceNeedsNoAddress) {
  const Values values = {{"RANK", "1"}, {"WORLD_SIZE", "3"}, {"TORCHELASTIC_RESTART_COUNT", "2"}};
  const auto find = [&](const Values& all) {
    return ReadPlace([&](const char* name) -> std::optional<std::string> {
      const auto found = all.find(name);
      return found == all.end() ? std::nullopt : std::optional(found->second);
    });
  };
  EXPECT_THROW(Read(values), UsageError);
  const Launch place = find(values);
  EXPECT_EQ(place.rank, 1);
  EXPECT_EQ(place.ranks, 3);
  EXPECT_EQ(place.restarts, 2);
  EXPECT_EQ(find(kSlurm).address, "");
  EXPECT_THROW(find({{"RANK", "3"}, {"WORLD_SIZE", "3"}}), UsageError);
}

TEST(LaunchTest, TorchrunInsideOfSlurmDecides) {
  Values values = kSlurm;
  values.insert(kTorchrun.begin(), kTorchrun.end());
  EXPECT_EQ(Read(values).launcher, "torchrun");
  EXPECT_EQ(Read(values).ranks, 4);
}

TEST(LaunchTest, NamesWhatIsMissing) {
  EXPECT_THAT([] { Read(Without(kTorchrun, "MASTER_ADDR")); },
              ThrowsMessage<UsageError>(HasSubstr("rank 3 of 4, but the environment variable "
                                                  "MASTER_ADDR is missing")));
  EXPECT_THAT([] { Read(Without(kTorchrun, "RANK")); },
              ThrowsMessage<UsageError>(HasSubstr("RANK is missing, but WORLD_SIZE is set")));
  EXPECT_THAT([] { Read(Without(kTorchrun, "WORLD_SIZE")); },
              ThrowsMessage<UsageError>(HasSubstr("WORLD_SIZE is missing, but RANK is set")));
}

TEST(LaunchTest, NamesWhatDoesNotFit) {
  EXPECT_THAT(
      [] { Read(With(kTorchrun, "RANK", "4")); },
      ThrowsMessage<UsageError>(HasSubstr("RANK is 4, but WORLD_SIZE is 4: ranks count from "
                                          "0 to 3")));
  EXPECT_THAT([] { Read(With(kTorchrun, "RANK", "-1")); },
              ThrowsMessage<UsageError>(HasSubstr("RANK is \"-1\": expected a whole number")));
  EXPECT_THAT([] { Read(With(kTorchrun, "WORLD_SIZE", "0")); },
              ThrowsMessage<UsageError>(HasSubstr("WORLD_SIZE is 0: expected 1 or more")));
  EXPECT_THAT([] { Read(With(kTorchrun, "MASTER_PORT", "99999")); },
              ThrowsMessage<UsageError>(HasSubstr("port 99999: expected 1 to 65535")));
}

TEST(LaunchTest, ReadsSlurmsListsOfMachines) {
  EXPECT_EQ(FirstSlurmNode("node1"), "node1");
  EXPECT_EQ(FirstSlurmNode("a1,b[2-3]"), "a1");
  EXPECT_EQ(FirstSlurmNode("gpu-[001,005-7]"), "gpu-001");
  EXPECT_EQ(SlurmTasksOn("2(x3),1", 2), 2);
  EXPECT_EQ(SlurmTasksOn("2(x3),1", 3), 1);
  EXPECT_EQ(SlurmTasksOn("2(x3),1", 4), 0);
  EXPECT_EQ(SlurmTasksOn("", 0), 0);
}

}  // namespace
}  // namespace tandem
