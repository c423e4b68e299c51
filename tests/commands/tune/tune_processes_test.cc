// `tandem tune` in two processes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <string>
#include <utility>
#include <vector>

#include "commands/tune/tune_fixture.h"
#include "support/free_port.h"

namespace tandem {
namespace {

class TuneTogether : public Tune {
 protected:
  // Ends with the exit code of each rank; rank 0's messages are in the file `err0`.
  std::vector<int> SearchTogether(const std::string& output,
                                  const std::vector<std::string>& flags) const {
    const std::string port = fmt::format("{}", FreePort());
    std::vector<pid_t> ranks;
    for (const char* rank : {"0", "1"}) {
      ranks.push_back(StartTandem(
          TuneArguments(output, flags),
          {.out = Path(std::string("out") + rank), .err = Path(std::string("err") + rank)},
          {{"RANK", rank},
           {"WORLD_SIZE", "2"},
           {"MASTER_ADDR", "127.0.0.1"},
           {"MASTER_PORT", port}}));
    }
    std::vector<int> codes;
    for (const pid_t rank : ranks) {
      int status = 0;
      EXPECT_EQ(::waitpid(rank, &status, 0), rank);
      codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    return codes;
  }
};

// All of what follows the trials is measured by both together: averages, sentinel sets, the test.
TEST_F(TuneTogether, EndsAsOneProcessDoes) {
  const std::vector<std::string> flags = {"--budget", "120 steps",
                                          "--set",    "tune.keep=[\"" + Path("other") + "\"]",
                                          "--set",    "tune.keep_split=dev",
                                          "--set",    "tune.average=[0.5]",
                                          "--set",    Set("tune.test", "other"),
                                          "--set",    "tune.test_split=train"};
  const ProgramResult alone = Search("alone", flags);
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(SearchTogether("together", flags), testing::ElementsAre(0, 0))
      << ReadFile(Path("err0"));
  const auto one = JournalOf("alone"), two = JournalOf("together");
  ASSERT_EQ(two.size(), one.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(two[i]["event"], one[i]["event"]) << i;
  EXPECT_EQ(RowsOf("together", "average").size(), 1U);
  EXPECT_EQ(RowsOf("together", "keep").size(), RowsOf("alone", "keep").size());
  ASSERT_EQ(RowsOf("together", "test").size(), 1U);
  EXPECT_NEAR(RowsOf("together", "test")[0]["base"].get<double>(),
              RowsOf("alone", "test")[0]["base"].get<double>(), 1e-6);
}

// Weights that grow ninefold with each step at the rate 10, which are no numbers any more after 40.
const std::vector<std::string> kDiverging = {
    "--set", "train.epochs=10",   "--set", "optimizer.weight_decay=1", "--set", "tune.rungs=1",
    "--set", "schedule.warmup=0", "--set", "schedule.name=constant"};

std::vector<std::string> Both(std::vector<std::string> flags,
                              const std::vector<std::string>& further) {
  flags.insert(flags.end(), further.begin(), further.end());
  return flags;
}

// Configurations that do not fit the model, found when a trial begins, and one whose loss is not
// finite, found in a step.
TEST_F(TuneTogether, ConfigurationsThatCannotBeTrainedAreLast) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> spaces = {
      {"tune.model.dimensions=[[64], [96], [32, 16]]", {"--budget", "60 steps"}},
      {"tune.model.max_document_tokens=[20, 9999, 10]", {"--budget", "60 steps"}},
      {"tune.optimizer.learning_rate=[5e-3, 10]", Both(kDiverging, {"--budget", "240 steps"})}};
  for (const auto& [space, further] : spaces) {
    const std::vector<std::string> flags = Both(further, {"--set", space});
    ASSERT_EQ(Search("alone", flags).exit_code, 0);
    EXPECT_THAT(SearchTogether("together", flags), testing::ElementsAre(0, 0))
        << ReadFile(Path("err0")) << ReadFile(Path("err1"));
    const auto one = RowsOf("alone", "failed"), two = RowsOf("together", "failed");
    ASSERT_FALSE(one.empty()) << space;
    ASSERT_EQ(two.size(), one.size()) << space;
    for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(two[i]["trial"], one[i]["trial"]);
    EXPECT_EQ(RowsOf("together", "rung").size(), RowsOf("alone", "rung").size());
    for (const char* output : {"alone", "together"}) std::filesystem::remove_all(Path(output));
  }
}

// The recipe as it is, which is the first trial, must be trainable.
TEST_F(TuneTogether, ARecipeThatCannotBeTrainedEndsTheSearch) {
  const std::vector<std::string> flags =
      Both(kDiverging, {"--budget", "240 steps", "--set", "optimizer.learning_rate=10"});
  ASSERT_EQ(Search("alone", flags).exit_code, 5);
  EXPECT_THAT(SearchTogether("together", flags), testing::ElementsAre(5, 5))
      << ReadFile(Path("err0")) << ReadFile(Path("err1"));
}

}  // namespace
}  // namespace tandem
