// `tandem train` while the base model scores the pairs: what is kept, and what --check says of it.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"
#include "support/held_cache.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

class ScoringCommand : public EventfulRunTest {
 protected:
  ScoringCommand() { ::setenv("TANDEM_CACHE", Path("cache").c_str(), 1); }
  ~ScoringCommand() override { ::setenv("TANDEM_CACHE", "", 1); }

  static std::vector<std::string> Flags(const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags = {"--set", "sampling.name=static_pruning", "--set",
                                      "sampling.keep=0.5"};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  ProgramResult Check(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> flags = Flags(more);
    flags.push_back("--check");
    return Train("", flags);
  }
};

TEST_F(ScoringCommand, ASignalStopsTheScoringAndWritesNoRun) {
  ASSERT_EQ(Train("whole", Flags()).exit_code, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    const HeldCache held(Path("cache"));
    const ProgramResult stopped = InterruptTandem(Arguments("run", Flags()), signal);
    EXPECT_EQ(stopped.exit_code, 128 + signal) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("interrupted while the base model scored the pairs; " +
                                       Path("cache/embeddings") + " keeps the blocks"));
    EXPECT_FALSE(std::filesystem::exists(Path("run")));
  }
  const ProgramResult again = Train("run", Flags());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  ExpectSameFiles("run", "whole");
}

// 48 queries, 24 pairs that are kept of 48, and as many documents as queries.
TEST_F(ScoringCommand, CheckSaysWhatIsToBeScoredAndEncodesNothing) {
  const ProgramResult before = Check();
  ASSERT_EQ(before.exit_code, 0) << before.err;
  EXPECT_THAT(before.out, HasSubstr("the run scores 48 pairs of 96 texts: 0 are in the cache, and "
                                    "to encode the others takes about "));
  EXPECT_THAT(before.out, HasSubstr("sampling.name = \"static_pruning\" leaves out is not known"));
  EXPECT_THAT(before.out, HasSubstr("on top come scoring, checkpoints and each start ("));
  EXPECT_FALSE(std::filesystem::exists(Path("cache")));
  // Half of the pairs, whichever they are: 5 batches of 24 queries an epoch, two of them a step.
  EXPECT_THAT(before.out, HasSubstr("for 15 steps"));
  EXPECT_THAT(before.err, HasSubstr("; about 15 steps of"));
  const ProgramResult run = Train("run", Flags());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(MetricOf("run", "step").back(), 15);
  const ProgramResult after = Check();
  ASSERT_EQ(after.exit_code, 0) << after.err;
  EXPECT_THAT(after.out, HasSubstr("48 pairs of 96 texts, whose embeddings are in the cache\n"));
  EXPECT_THAT(after.out, Not(HasSubstr("is not known")));
  EXPECT_THAT(after.err, HasSubstr("; 15 steps of"));
}

TEST_F(ScoringCommand, CheckCountsTheBlocksThatAnInterruptedScoringLeft) {
  ASSERT_EQ(Train("run", Flags()).exit_code, 0);
  { const HeldCache takes_the_first_block_of_each(Path("cache")); }
  EXPECT_THAT(Check().out, HasSubstr("48 pairs of 96 texts: 0 are in the cache"));
}

TEST_F(ScoringCommand, CheckFindsWhatWouldStopTheScoring) {
  const ProgramResult none = Check({"--set", "sampling.keep=0.001"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("sampling.keep is 0.001, which leaves none of 48 pairs"));
  WriteFileAtomically(Path("file"), "");
  ::setenv("TANDEM_CACHE", Path("file").c_str(), 1);
  const ProgramResult cache = Check();
  EXPECT_EQ(cache.exit_code, 0) << cache.err;
  EXPECT_THAT(cache.err, HasSubstr("warning: embeddings are not kept: "));
  EXPECT_THAT(cache.err, HasSubstr("cannot be written, because of " + Path("file")));
  ::setenv("TANDEM_CACHE", "", 1);
  EXPECT_THAT(Check().out, HasSubstr("48 pairs of 96 texts: 0 are in the cache"));
}

// Two queries with the same text: what one wants the other one knows.
TEST_F(ScoringCommand, RanksAmongNoDocumentsAreRefused) {
  WriteFileAtomically(Path("data/queries.jsonl"), ReadFile(Path("data/queries.jsonl")) +
                                                      "{\"_id\": \"x0\", \"text\": \"alpha\"}\n"
                                                      "{\"_id\": \"x1\", \"text\": \"alpha\"}\n");
  WriteFileAtomically(Path("data/qrels/train.tsv"),
                      "query-id\tcorpus-id\tscore\nx0\td0\t2\nx1\td1\t2\nx1\td2\t0\n");
  const std::vector<std::string> flags = Flags({"--set", "sampling.score=consistency"});
  for (const bool check : {false, true}) {
    std::vector<std::string> words = flags;
    if (check) words.push_back("--check");
    const ProgramResult result = Train(check ? "" : "run", words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("sampling.score is \"consistency\", which ranks a document "
                                      "among the positives of other queries, and here every query "
                                      "knows all positives as its own"));
    EXPECT_FALSE(std::filesystem::exists(Path("run")));
  }
}

TEST_F(ScoringCommand, CheckOfASamplerWithoutScoresSaysNothingOfThem) {
  const ProgramResult result = Train("", {"--check"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("the run scores")));
}

}  // namespace
}  // namespace tandem
