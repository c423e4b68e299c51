// `tandem tune` in two processes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <string>
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

}  // namespace
}  // namespace tandem
