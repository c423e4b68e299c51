// What is the same for every command: help, unknown words, the seam to the tensor program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/run_tandem.h"

namespace tandem {
namespace {

using testing::HasSubstr;

void ExpectUsageError(const std::vector<std::string>& arguments, const std::string& message) {
  const ProgramResult result = RunTandem(arguments);
  EXPECT_EQ(result.exit_code, 2) << message;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("error: " + message));
}

TEST(CommandLine, HelpGoesToStdout) {
  for (const char* flag : {"-h", "--help"}) {
    const ProgramResult result = RunTandem({flag});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    for (const char* command : {"train", "evaluate", "search", "encode", "inspect"}) {
      EXPECT_THAT(result.out, HasSubstr(command));
    }
  }
  const ProgramResult of_train = RunTandem({"train", "--help"});
  EXPECT_THAT(of_train.out, HasSubstr("--resume"));
  EXPECT_THAT(of_train.out, HasSubstr("--seed"));
  EXPECT_EQ(of_train.exit_code, 0);
}

TEST(CommandLine, UnknownWordsNameTheNearest) {
  ExpectUsageError({"trian"}, "unknown command trian; did you mean train?");
  ExpectUsageError({"train", "r.toml", "--outptu", "x"},
                   "unknown flag --outptu; did you mean --output?");
  ExpectUsageError({"train", "r.toml", "more"}, "unknown argument more");
}

// The misspelt flag is why a required one is missing; it comes first.
TEST(CommandLine, UnknownFlagComesBeforeAMissingOne) {
  ExpectUsageError({"search", "--modle", "m", "--dataset", "d"},
                   "unknown flag --modle; did you mean --model?");
  ExpectUsageError({"search", "--dataset", "d"}, "--model is required");
}

TEST(CommandLine, ValuesOutOfRange) {
  ExpectUsageError({"train", "r.toml", "--seed", "-1"}, "--seed: Value -1 not in range");
  ExpectUsageError({"train", "r.toml", "--threads", "x"},
                   "--threads: Value x not in range 0 to 4096");
  ExpectUsageError({"evaluate", "--relevance-level", "x"},
                   "Could not convert: --relevance-level = x");
  ExpectUsageError({"inspect", "m", "--format", "xml"}, "--format: xml not in {text,json}");
}

TEST(CommandLine, FlagsThatExcludeEachOther) {
  ExpectUsageError({"train", "r.toml", "--resume", "--check"}, "--resume excludes --check");
  ExpectUsageError({"train", "r.toml", "--check", "--resume"}, "--resume excludes --check");
}

TEST(CommandLine, OneValueEachTime) {
  ExpectUsageError({"inspect", "m", "--format", "text", "--format", "json"},
                   "--format: At Most 1 required but received 2");
  ExpectUsageError({"train", "r.toml", "--set", "a=1", "more"}, "unknown argument more");
}

TEST(CommandLine, HelpShowsWordsRangesAndDefaults) {
  const ProgramResult result = RunTandem({"evaluate", "--help"});
  EXPECT_THAT(result.out, HasSubstr("--threads INT:INT in [0 - 4096]=0"));
  EXPECT_THAT(result.out, HasSubstr("--score-precision TEXT:{single,double}=single"));
  EXPECT_THAT(result.out, HasSubstr("--measures TEXT=ndcg@10,"));
  EXPECT_THAT(RunTandem({"inspect", "--help"}).out, HasSubstr("path TEXT REQUIRED"));
}

}  // namespace
}  // namespace tandem
