#include "report/records/metrics_row.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/files/files.h"
#include "report/records/run_log.h"
#include "support/temporary_folder.h"

namespace tandem::report {
namespace {

// What ROW writes is LINE, and LINE reads back as a row that writes the same.
template <typename Row>
void ExpectLine(const Row& row, const std::string& line) {
  EXPECT_EQ(ToJson(row).Dump(), line);
  const auto read = ReadMetricsRow(line);
  ASSERT_TRUE(read.has_value()) << line;
  ASSERT_TRUE(std::holds_alternative<Row>(*read)) << line;
  EXPECT_EQ(ToJson(std::get<Row>(*read)).Dump(), line);
}

TEST(MetricsRow, IsAFlatLineThatReadsBack) {
  ExpectLine(StepRow{.step = 100,
                     .epoch = 1.5,
                     .queries = 3200,
                     .tokens = 70000,
                     .loss = 0.25,
                     .learning_rate = 2e-5,
                     .gradient_norm = 1.0 / 3,
                     .false_negatives = 7,
                     .loss_scale = 32768,
                     .skipped = 1,
                     .objective = {{"scale", 20.5}, {"bank_negatives", 300}}},
             R"({"event":"step","step":100,"epoch":1.5,"queries":3200,"tokens":70000,"loss":0.25,)"
             R"("learning_rate":2e-05,"gradient_norm":0.3333333333333333,"false_negatives":7,)"
             R"("loss_scale":32768.0,"skipped_steps":1,)"
             R"("objective_scale":20.5,"objective_bank_negatives":300})");
  ExpectLine(ValidationRow{.step = 100, .measures = {{"ndcg@10", 0.81}}, .best = true},
             R"({"event":"validation","step":100,"validation_ndcg@10":0.81,"best":true})");
  ExpectLine(MiningRow{.step = 6,
                       .round = 1,
                       .queries = 48,
                       .fewer = 3,
                       .without = 1,
                       .negatives = 380,
                       .mean_score = 0.5,
                       .mean_positive_score = 0.75,
                       .left_out_by_margins = 2,
                       .false_negative_rate = 0.125},
             R"({"event":"mining","step":6,"mining_round":1,"mining_queries":48,"mining_fewer":3,)"
             R"("mining_without":1,"mining_negatives":380,"mining_mean_score":0.5,)"
             R"("mining_mean_positive_score":0.75,"mining_left_out_by_margins":2,)"
             R"("mining_false_negative_rate":0.125})");
  ExpectLine(FinishedRow{.step = 30, .model_step = 21, .best = {{"ndcg@10", 0.82}}},
             R"({"event":"finished","step":30,"model_step":21,"best_ndcg@10":0.82})");
}

// Fields that do not exist have no key, numbers that are not finite are null.
TEST(MetricsRow, WhatDoesNotExist) {
  EXPECT_EQ(ToJson(StepRow{.step = 1, .loss = std::nan("")}).Dump(),
            R"({"event":"step","step":1,"epoch":null,"queries":0,"tokens":0,"loss":null,)"
            R"("learning_rate":null,"gradient_norm":null})");
  const auto row = ReadMetricsRow(R"({"event":"step","step":3,"loss":null,"new_key":[1]})");
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(std::get<StepRow>(*row).step, 3);
  EXPECT_TRUE(std::isnan(std::get<StepRow>(*row).loss));
  EXPECT_FALSE(std::get<StepRow>(*row).false_negatives.has_value());
}

TEST(MetricsRow, WhatIsNoRow) {
  for (const char* line :
       {"", "{\"event\":\"step\",\"st", "[1]", "3", "{}", R"({"event":"other","step":1})",
        R"({"event":1})", R"({"event":"step","step":"one"})", R"({"event":"step","step":1.5})",
        R"({"event":"validation","step":1,"best":1})",
        R"({"event":"validation","step":1,"validation_mrr":"high"})"}) {
    EXPECT_FALSE(ReadMetricsRow(line).has_value()) << line;
  }
}

TEST(MetricsRow, LinesOfEarlierVersionsAreRead) {
  const auto as_today = [](const std::string& line) {
    const auto row = ReadMetricsRow(line);
    if (!row) return std::string("none");
    return std::visit([](const auto& of) { return ToJson(of).Dump(); }, *row);
  };
  EXPECT_EQ(as_today(R"({"step":3,"epoch":0.5,"queries":9,"tokens":90,"loss":0.5,)"
                     R"("learning_rate":0.25,"gradient_norm":2.0,"false_negatives":1,)"
                     R"("objective":{"scale":20.5,"bank_positives":4}})"),
            R"({"event":"step","step":3,"epoch":0.5,"queries":9,"tokens":90,"loss":0.5,)"
            R"("learning_rate":0.25,"gradient_norm":2.0,"false_negatives":1,)"
            R"("objective_scale":20.5,"objective_bank_positives":4})");
  EXPECT_EQ(as_today(R"({"step":7,"validation":{"ndcg@10":0.5},"best":true})"),
            R"({"event":"validation","step":7,"validation_ndcg@10":0.5,"best":true})");
  EXPECT_EQ(as_today(R"({"step":6,"mining":{"round":1,"queries":4,"fewer":3,"without":2,)"
                     R"("negatives":9,"mean_score":0.5,"mean_positive_score":0.75,)"
                     R"("left_out_by_margins":2,"false_negative_rate":0.25}})"),
            R"({"event":"mining","step":6,"mining_round":1,"mining_queries":4,"mining_fewer":3,)"
            R"("mining_without":2,"mining_negatives":9,"mining_mean_score":0.5,)"
            R"("mining_mean_positive_score":0.75,"mining_left_out_by_margins":2,)"
            R"("mining_false_negative_rate":0.25})");
  EXPECT_EQ(as_today(R"({"step":30,"finished":true,"model_step":21,"ndcg@10":0.5})"),
            R"({"event":"finished","step":30,"model_step":21,"best_ndcg@10":0.5})");
  EXPECT_EQ(as_today(R"({"step":3})"), "none");
}

TEST(TimingRow, IsAFlatLineThatReadsBackAlsoFromEarlierVersions) {
  const auto as_today = [](const std::string& line) {
    const auto row = ReadTimingRow(line);
    if (!row) return std::string("none");
    return std::visit([](const auto& of) { return ToJson(of).Dump(); }, *row);
  };
  const std::string start =
      R"("version":"1","threads":2,"precision":"fp32","isa":"avx2","resumed_from":5,)"
      R"("read_seconds":0.5,"tokenise_seconds":0.25})";
  const std::string step = R"("step":3,"seconds":0.5,"tokens":100,"tokens_per_second":200.0})";
  EXPECT_EQ(as_today("{" + start), "{\"event\":\"start\"," + start);
  EXPECT_EQ(as_today("{\"event\":\"start\"," + start), "{\"event\":\"start\"," + start);
  EXPECT_EQ(as_today("{" + step), "{\"event\":\"step\"," + step);
  EXPECT_EQ(as_today("{\"event\":\"step\"," + step), "{\"event\":\"step\"," + step);
  for (const std::string event : {"validation", "mining"}) {
    const std::string line = R"({"event":")" + event + R"(","step":7,"seconds":1.5})";
    EXPECT_EQ(as_today(line), line);
    EXPECT_EQ(as_today(R"({"step":7,")" + event + R"(_seconds":1.5})"), line);
  }
}

TEST(RunLog, HoldsTheRowsOfAFileByTheirKinds) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.jsonl";
  EXPECT_TRUE(ReadRunLog(path).steps.empty());
  // The first lines are an earlier version's, the last is of a run that was killed.
  WriteFileAtomically(
      path,
      "{\"step\":0,\"validation\":{\"mrr\":0.25},\"best\":true}\n"
      "{\"step\":2,\"loss\":0.5}\n"
      "{\"event\":\"step\",\"step\":4,\"loss\":0.25}\n"
      "{\"event\":\"validation\",\"step\":4,\"validation_mrr\":0.5,\"best\":true}\n"
      "{\"event\":\"validation\",\"step\":6,\"validation_mrr\":0.4,\"best\":false}\n"
      "{\"event\":\"mining\",\"step\":6,\"mining_round\":1}\n"
      "{\"event\":\"ste");
  RunLog log = ReadRunLog(path);
  EXPECT_EQ(log.step, 6);
  ASSERT_EQ(log.steps.size(), 2U);
  EXPECT_EQ(log.steps[0].loss, 0.5);
  EXPECT_EQ(log.validations.size(), 3U);
  ASSERT_NE(log.BestValidation(), nullptr);
  EXPECT_EQ(log.BestValidation()->step, 4);
  EXPECT_EQ(log.BestValidation()->measures[0].AsDouble(), 0.5);
  EXPECT_EQ(log.minings.size(), 1U);
  EXPECT_FALSE(log.finished.has_value());
  EXPECT_EQ(log.unreadable_lines, 1U);
  WriteFileAtomically(path, "{\"event\":\"finished\",\"step\":9,\"model_step\":4}\n");
  log = ReadRunLog(path);
  EXPECT_EQ(log.step, 9);
  EXPECT_EQ(log.finished->model_step, 4);
  EXPECT_EQ(log.BestValidation(), nullptr);
}

TEST(TimingLog, HoldsTheRowsOfEveryProcess) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "timing.jsonl";
  WriteFileAtomically(path,
                      "{\"version\":\"1\",\"threads\":2}\n"
                      "{\"step\":2,\"seconds\":0.5,\"tokens\":9}\n"
                      "{\"event\":\"start\",\"resumed_from\":2}\n"
                      "{\"event\":\"step\",\"step\":4,\"seconds\":0.5}\n"
                      "{\"event\":\"validation\",\"step\":4,\"seconds\":1.5}\n"
                      "{\"event\":\"mining\",\"step\":4,\"seconds\":2.5}\n");
  const TimingLog log = ReadTimingLog(path);
  ASSERT_EQ(log.starts.size(), 2U);
  EXPECT_EQ(log.starts[0].threads, 2);
  EXPECT_EQ(log.starts[1].resumed_from, 2);
  EXPECT_EQ(log.steps.size(), 2U);
  EXPECT_EQ(log.validations.at(0).seconds, 1.5);
  EXPECT_EQ(log.minings.at(0).seconds, 2.5);
  EXPECT_EQ(log.unreadable_lines, 0U);
}

}  // namespace
}  // namespace tandem::report
