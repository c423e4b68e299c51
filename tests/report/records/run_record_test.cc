#include "report/records/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "base/files/files.h"
#include "config/test_catalogue.h"
#include "report/example_run.h"
#include "support/temporary_folder.h"

namespace tandem::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class RunRecordTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(folder_.path() / name, text);
  }
  RunRecord Read() const { return ReadRun(folder_.path(), {}); }
  double SecondsOf(const RunRecord& run, const std::string& part) const {
    for (const TimePart& time : run.times) {
      if (time.name == part) return time.seconds;
    }
    return -1;
  }
  TemporaryFolder folder_;
};

TEST_F(RunRecordTest, HoldsWhatTheFilesSay) {
  WriteExampleRun(folder_.path(), {});
  const RunRecord run = Read();
  EXPECT_EQ(run.log.steps.size(), 60);
  EXPECT_EQ(run.log.validations.size(), 11);
  ASSERT_NE(run.log.BestValidation(), nullptr);
  EXPECT_EQ(run.log.BestValidation()->step, 420);
  EXPECT_NEAR(SecondsOf(run, "steps"), 60 * 6.5, 1e-9);
  EXPECT_NEAR(SecondsOf(run, "validation"), 11 * 4.1, 1e-9);
  EXPECT_NEAR(*run.seconds_to_best, 42 * 6.5 + 8 * 4.1, 1e-9);
  EXPECT_EQ(run.most_memory_bytes, 2147483648);
}

TEST_F(RunRecordTest, CountsWhatPassesDrew) {
  WriteExampleRun(folder_.path(), {});
  const RunRecord run = Read();
  ASSERT_EQ(run.passes.size(), 2);
  EXPECT_EQ(run.passes[0].queries, 1500);
  EXPECT_EQ(run.passes[1].left_out, 900);
  EXPECT_NEAR(*run.passes[1].mean_score_left_out, 0.61, 1e-6);
  // Never: left out of both; once: of the first 900 those that the first epoch drew.
  EXPECT_THAT(run.queries_by_draws, ElementsAre(500, 400, 1100));
}

TEST_F(RunRecordTest, CountsRepeatedWorkOnceOnTheWayToTheBest) {
  Write("metrics.jsonl",
        "{\"event\":\"validation\",\"step\":20,\"validation_map\":0.5,\"best\":true}\n");
  Write("timing.jsonl",
        "{\"event\":\"start\",\"version\":\"1\",\"resumed_from\":0}\n{\"event\":\"step\",\"step\":"
        "10,\"seconds\":3}\n"
        "{\"event\":\"step\",\"step\":20,\"seconds\":4}\n{\"event\":\"start\",\"version\":\"2\","
        "\"resumed_from\":10}\n"
        "{\"event\":\"step\",\"step\":20,\"seconds\":5}\n{\"event\":\"step\",\"step\":30,"
        "\"seconds\":6}\n");
  const RunRecord run = Read();
  EXPECT_EQ(run.seconds_to_best, 3 + 5);
  EXPECT_EQ(SecondsOf(run, "steps"), 3 + 4 + 5 + 6);
  EXPECT_EQ(run.machine.front().value, "2");
}

TEST_F(RunRecordTest, ARowOfTimesThatReachesBeyondAValidationCountsWithItsShare) {
  std::string metrics;
  for (const int step : {0, 4, 14}) {
    metrics += "{\"event\":\"validation\",\"step\":" + std::to_string(step) +
               ",\"validation_map\":0.5,\"best\":" + (step == 4 ? "true" : "false") + "}\n";
  }
  Write("metrics.jsonl", metrics);
  const std::string start = "{\"event\":\"start\",\"version\":\"1\",\"resumed_from\":0}\n";
  const std::string validation = "{\"event\":\"validation\",\"step\":0,\"seconds\":1}\n";
  const std::string ten = "{\"event\":\"step\",\"step\":10,\"seconds\":5}\n";
  const std::string twenty = "{\"event\":\"step\",\"step\":20,\"seconds\":10}\n";
  Write("timing.jsonl", start + validation + ten + twenty);
  const RunRecord run = Read();
  EXPECT_NEAR(*run.seconds_to_best, 1 + 5 * 0.4, 1e-12);
  ASSERT_EQ(run.seconds_to_validations.size(), 3u);
  EXPECT_NEAR(run.seconds_to_validations[2], 1 + 5 + 10 * 0.4, 1e-12);
  // Killed after step 20, begun again from step 12: of the row to 20 two steps stay, and the
  // process wrote of those from 12 to 20 anew.
  Write("timing.jsonl", start + validation + ten + twenty +
                            "{\"event\":\"start\",\"version\":\"1\",\"resumed_from\":12}\n" +
                            "{\"event\":\"step\",\"step\":20,\"seconds\":16}\n");
  EXPECT_NEAR(Read().seconds_to_validations[2], 1 + 5 + 10 * 0.2 + 16 * 0.25, 1e-12);
  // Begun again beyond the last row: of the steps between nobody knows.
  Write("timing.jsonl", start + validation + ten +
                            "{\"event\":\"start\",\"version\":\"1\",\"resumed_from\":12}\n" +
                            twenty);
  EXPECT_TRUE(std::isnan(Read().seconds_to_validations[2]));
  // No row reaches to the last validation, or one lacks its time: nobody knows.
  Write("timing.jsonl", start + validation + ten);
  EXPECT_NEAR(*Read().seconds_to_best, 3, 1e-12);
  EXPECT_TRUE(std::isnan(Read().seconds_to_validations[2]));
  Write("timing.jsonl", start + validation + "{\"event\":\"step\",\"step\":10}\n" + twenty);
  EXPECT_FALSE(Read().seconds_to_best);
}

TEST_F(RunRecordTest, KeysThatAnOlderRecordLacksAreWhatItsVersionDid) {
  Write("recipe.resolved.toml", config::kLeast);
  const auto value = [&] {
    return ReadRun(folder_.path(), config::kTestCatalogues).keys.at("data.masks.query_text").text;
  };
  EXPECT_EQ(value(), "false");
  Write("recipe.resolved.toml", config::kLeast + "data.masks.query_text = true\n");
  EXPECT_EQ(value(), "true");
}

TEST_F(RunRecordTest, SaysWhatIsBroken) {
  Write("metrics.jsonl", "{\"step\":10,\"loss\":\"high\"}\nnull\n[1]\n{\"step\":20,\"loss\":1}\n");
  Write("recipe.resolved.toml", "seed = [");
  MakeFolder(folder_.path() / "sampling");
  Write("sampling/pass-00000000.bin", "TDMPASS1 and no more");
  Write("sampling/first-scores.bin", "TDMSCOR1");
  const RunRecord run = Read();
  EXPECT_EQ(run.log.steps.size(), 1);
  EXPECT_THAT(
      run.missing,
      Contains(HasSubstr("3 lines of metrics.jsonl cannot be read, line 1 the first of them.")));
  EXPECT_THAT(run.missing, Contains(HasSubstr("its recipe cannot be read")));
  EXPECT_THAT(run.missing, Contains(HasSubstr("sampling/pass-00000000.bin is damaged, and its "
                                              "epoch is in no number of draws: ")));
  EXPECT_THAT(run.missing, Contains(HasSubstr("sampling/first-scores.bin is damaged")));
  EXPECT_EQ(run.damaged_passes, 1u);
  EXPECT_TRUE(run.first_scores_damaged);
  EXPECT_EQ(run.log.first_unreadable, 1);
  EXPECT_THAT(run.missing, Contains(HasSubstr("there is no timing.jsonl")));
  EXPECT_EQ(run.recipe_text, "seed = [");
}

}  // namespace
}  // namespace tandem::report
