// `tandem report` as users run it. What is in the page is tested in tests/report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files/files.h"
#include "report/example_run.h"
#include "support/run_tandem.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class ReportCommandTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  TemporaryFolder folder_;
};

TEST_F(ReportCommandTest, WritesThePageOfARunIntoTheRun) {
  report::WriteExampleRun(Path("mine"), {});
  const ProgramResult result = RunTandem({"report", Path("mine")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, Path("mine") + "/report/page/index.html\n");
  const std::string page = ReadFile(Path("mine/report/page/index.html"));
  EXPECT_THAT(page, HasSubstr("mann_whitney"));  // of the recipe, which needs the catalogues
  EXPECT_THAT(page, HasSubstr("var(--figure-1)"));
  EXPECT_THAT(page,
              HasSubstr("The curve of validation is of other data: queries of packages, split "
                        "dev</caption>"));
  EXPECT_THAT(result.err, HasSubstr("Serve the trained model: "));
  EXPECT_TRUE(std::filesystem::exists(Path("mine/report/page/figures/roc.svg")));
  EXPECT_TRUE(std::filesystem::exists(Path("mine/report/after.evaluation.json")));
  // Again, over the old one.
  EXPECT_EQ(RunTandem({"report", Path("mine")}).exit_code, 0);
}

TEST_F(ReportCommandTest, ComparesSeveralInAFolderOfTheirOwn) {
  report::WriteExampleRun(Path("one"), {});
  report::WriteExampleRun(Path("two"), {.separation = 0.3, .seed = 4});
  const ProgramResult without = RunTandem({"report", Path("one"), Path("two")});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("--output is needed"));
  const ProgramResult result =
      RunTandem({"report", Path("one"), Path("two"), "--output", Path("page")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(ReadFile(Path("page/index.html")), HasSubstr("Comparison of runs"));
}

TEST_F(ReportCommandTest, ShowsAllRunsBelowAFolder) {
  report::WriteExampleRun(Path("sweep/a/seed-1"), {});
  report::WriteExampleRun(Path("sweep/b"), {.separation = 0.3, .seed = 4});
  const ProgramResult result =
      RunTandem({"report", Path("sweep"), "--by", "optimizer.learning_rate"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, Path("sweep") + "/report/page/index.html\n");
  EXPECT_THAT(result.err, HasSubstr("--by optimizer.learning_rate: it is "));
  const std::string page = ReadFile(Path("sweep/report/page/index.html"));
  EXPECT_THAT(page, HasSubstr("Report of 2 runs"));
  EXPECT_THAT(page, HasSubstr("<bdi>a/seed-1</bdi>"));
  // Again, beside the page that is there now.
  EXPECT_EQ(RunTandem({"report", Path("sweep")}).exit_code, 0);
}

TEST_F(ReportCommandTest, RefusesAFolderWithoutRunsAndAnUnknownKey) {
  std::filesystem::create_directories(Path("none/a"));
  const ProgramResult none = RunTandem({"report", Path("none")});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("none of the 2 folders in it has metrics.jsonl"));
  const ProgramResult gone = RunTandem({"report", Path("gone")});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_THAT(gone.err, HasSubstr("there is no such file or folder"));
  report::WriteExampleRun(Path("one"), {});
  const ProgramResult key = RunTandem({"report", Path("one"), "--by", "objective.temperatur"});
  EXPECT_EQ(key.exit_code, 2);
  EXPECT_THAT(key.err, HasSubstr("did you mean objective.temperature?"));
}

TEST_F(ReportCommandTest, RefusesEmptyAndRepeatedFlagsAndRunsOfTwoInputs) {
  report::WriteExampleRun(Path("a/x"), {});
  const auto error = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"report", Path("a"), "--output", Path("page")};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = RunTandem(words);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_THAT(error({"--by", ""}), HasSubstr("--by: is empty; expected a key"));
  EXPECT_THAT(error({"--measure", ""}), HasSubstr("--measure: is empty; expected a measure"));
  EXPECT_THAT(error({"--series", "objective.name", "--series", "objective.name"}),
              HasSubstr("--series: objective.name is named twice"));
  EXPECT_THAT(error({Path("a/x")}),
              HasSubstr("/a/x lies in two of the folders and runs that are named, the second of "
                        "them " +
                        Path("a/x")));
}

TEST_F(ReportCommandTest, RefusesABrokenEvaluationThatWasNamed) {
  WriteFileAtomically(Path("a.evaluation.json"), "{}");
  const ProgramResult result =
      RunTandem({"report", Path("a.evaluation.json"), "--output", Path("page")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("a.evaluation.json: is no evaluation"));
}

}  // namespace
}  // namespace tandem
