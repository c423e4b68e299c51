// Launches of `tandem train` that cannot work: every process ends with an error before the first
// step, and no run folder is made.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "commands/train/processes/distributed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

class DistributedErrors : public DistributedTest {
 protected:
  // Of every process that was started.
  void ExpectErrors(int exit_code, const std::string& words) {
    for (const ProgramResult& result : WaitForAll()) {
      EXPECT_EQ(result.exit_code, exit_code) << result.err;
      EXPECT_THAT(result.err, HasSubstr(words));
    }
    EXPECT_FALSE(std::filesystem::exists(Path("run")));
  }

  // Rank 1 gets further arguments.
  void ExpectDifferenceIsRefused(const std::string& further, int exit_code,
                                 const std::string& words) {
    const int port = FreePort();
    Start(RankVariables(0, 2, port), "run", {});
    Start(RankVariables(1, 2, port), "run", {"--set", further});
    ExpectErrors(exit_code, words);
  }
};

TEST_F(DistributedErrors, NoAddress) {
  Start({{"RANK", "0"}, {"WORLD_SIZE", "2"}}, "run", {});
  ExpectErrors(2, "this is rank 0 of 2, but the environment variable MASTER_ADDR is missing");
}

TEST_F(DistributedErrors, ARankTwice) {
  const int port = FreePort();
  for (const int rank : {0, 1, 1}) Start(RankVariables(rank, 3, port), "run", {});
  ExpectErrors(2, "two processes of this job have rank 1");
}

TEST_F(DistributedErrors, APortInUse) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(descriptor, 1), 0);
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  Start(RankVariables(0, 2, ntohs(address.sin_port)), "run", {});
  ExpectErrors(2, fmt::format("rank 0 cannot listen on port {}", ntohs(address.sin_port)));
  ::close(descriptor);
}

TEST_F(DistributedErrors, AProcessThatDoesNotCome) {
  Start(RankVariables(0, 2, FreePort()), "run", {"--timeout", "1"});
  ExpectErrors(7, "of 2 processes, rank 1 did not come");
}

TEST_F(DistributedErrors, ABatchSmallerThanTheRanks) {
  StartRanks(3, "run", {"--set", "train.batch=2"});
  ExpectErrors(2, "train.batch makes batches of 2 queries, which 3 processes cannot share");
}

TEST_F(DistributedErrors, AnotherRecipe) {
  ExpectDifferenceIsRefused("train.batch=4", 2,
                            "the recipe of rank 1 has train.batch = 4, and rank 0 train.batch = 5");
}

// Only paths count by their last part.
TEST_F(DistributedErrors, AnotherPromptWithTheSameEnd) {
  ExpectDifferenceIsRefused("model.query_prompt=\"news/q: \"", 2,
                            "the recipe of rank 1 has model.query_prompt = \"news/q: \"");
}

TEST_F(DistributedErrors, OtherData) {
  std::filesystem::create_directories(Path("other"));
  std::filesystem::copy(Path("data"), Path("other/data"), std::filesystem::copy_options::recursive);
  WriteFileAtomically(Path("other/data/qrels/train.tsv"),
                      ReadFile(Path("data/qrels/train.tsv")) + "q0\td9\t1\n");
  ExpectDifferenceIsRefused(fmt::format("data.train=\"{}\"", Path("other/data")), 3,
                            "judgements of rank 1 are not those of rank 0");
}

TEST_F(DistributedErrors, AnotherBase) {
  std::filesystem::create_directories(Path("other"));
  std::filesystem::copy(Path("base"), Path("other/base"), std::filesystem::copy_options::recursive);
  const std::string weights = "model.safetensors";
  std::string bytes = ReadFile(Path("base/" + weights));
  char& one = bytes[bytes.size() / 2];  // the last tensor is a pooler, which no base needs
  one = static_cast<char>(one ^ 1);
  WriteFileAtomically(Path("other/base/" + weights), bytes);
  ExpectDifferenceIsRefused(fmt::format("model.base=\"{}\"", Path("other/base")), 4,
                            "of rank 1 are not those of rank 0");
}

}  // namespace
}  // namespace tandem
