// Figures and sentences that compare models, and what a sampler preferred.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "report/page/page_fixture.h"
#include "sampling/audit/audit_file.h"

namespace tandem::report {
namespace {

class PageFiguresTest : public PageTest {};

TEST_F(PageFiguresTest, SaysWhoseRocCurveLiesHigherAndShowsAllScoresTogether) {
  WriteExampleRun(Run("one"), {.separation = 0.3, .seed = 2});
  WriteExampleRun(Run("two"), {.separation = 0.2, .seed = 3});
  const std::string page = PageOf(Read({"one", "two"}));
  const std::vector<std::string> sentences = Between(page, "<li><bdi>", "</bdi>");
  EXPECT_THAT(sentences, testing::SizeIs(3));  // each two of three models
  EXPECT_THAT(sentences, testing::Contains(testing::StartsWith("two: after lies")));
  EXPECT_TRUE(Holds(page, "<figure id=\"figure-scores-together\""));
  EXPECT_TRUE(Holds(page, "<bdi>two: after, highest non-positives</bdi>"));  // of its numbers
}

TEST_F(PageFiguresTest, ShowsWhomASamplerDrewByTheFirstScores) {
  WriteExampleRun(Run("mine"), {});
  EXPECT_TRUE(Holds(PageOf(Read({"mine"})),
                    "mine: the scores that queries had before training were "
                    "not recorded"));
  std::vector<float> scores;  // of the run's 2,000 queries
  for (int i = 0; i < 2000; ++i) scores.push_back(static_cast<float>(i) / 2000);
  WriteFileAtomically(folder_.path() / "mine" / "sampling" / "first-scores.bin",
                      sampling::FirstScoresBytes(scores));
  const std::vector<ReportFile> files = MakeReport(Read({"mine"}));
  EXPECT_TRUE(Holds(files.front().bytes, "<figure id=\"figure-draws-by-score\" class=\"still\">"));
  const auto numbers = std::find_if(files.begin(), files.end(), [](const ReportFile& file) {
    return file.path == "figures/draws-by-score.tsv";
  });
  ASSERT_NE(numbers, files.end());
  // The highest tenth comes first, and each pair has the probability 0.5.
  EXPECT_TRUE(
      numbers->bytes.starts_with("series\tepoch\tfirst_score\texpected_draws\n\t0\t0.90 to "
                                 "1.00\t0.5\n\t1\t0.90 to 1.00\t0.5\n"));
}

TEST_F(PageFiguresTest, DrawsTsneBesideThePrincipalComponents) {
  EvaluationRecord record = ExampleEvaluation({});
  record.views->tsne_queries = {{0, 1}, {2, 3}};
  record.views->tsne_documents = {{1, 1}, {5, 3}};
  const std::string page = PageOf({.title = "t-SNE", .evaluations = {{"one", record}}});
  EXPECT_THAT(FigureNames(page), testing::IsSupersetOf({"projection", "tsne"}));
}

TEST_F(PageFiguresTest, SaysWhichRecordsOfEpochsAreDamaged) {
  WriteExampleRun(Run("mine"), {});
  WriteFileAtomically(folder_.path() / "mine" / "sampling" / "pass-00000001.bin", "TDMPASS1");
  WriteFileAtomically(folder_.path() / "mine" / "sampling" / "first-scores.bin", "TDMSCOR1");
  const std::string page = PageOf(Read({"mine"}));
  EXPECT_TRUE(Holds(page, "Without the draws of one epoch whose records are damaged."));
  EXPECT_TRUE(Holds(page,
                    "mine: the file of the scores that queries had before training is "
                    "damaged."));
  EXPECT_FALSE(Holds(page, "were not recorded"));
  WriteFileAtomically(folder_.path() / "mine" / "sampling" / "pass-00000000.bin", "TDMPASS1");
  EXPECT_TRUE(Holds(PageOf(Read({"mine"})), "mine: the records of all epochs are damaged."));
}

}  // namespace
}  // namespace tandem::report
