// The page of many runs where runs were evaluated, or their samplers kept records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/example_run.h"
#include "report/sweep/sweep_fixture.h"

namespace tandem::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Five groups of one seed, the best first, evaluated: after training, each, and before it, all one.
ReportInput Evaluated() {
  std::vector<MadeRun> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back({.name = "r" + std::to_string(i), .value = 0.6 - 0.01 * i});
  }
  ReportInput input = InputOf(made);
  input.evaluations.push_back({"before", ExampleEvaluation({.separation = 0.1})});
  // Worse runs come first, so that the order of groups and that of evaluations are two.
  for (size_t i = 5; i-- > 0;) {
    input.runs[i].keys["train.batch"] = {std::to_string(16 + i), 16.0 + static_cast<double>(i)};
    input.evaluations.push_back(
        {input.runs[i].name + ": after",
         ExampleEvaluation({.separation = 0.3 - 0.02 * static_cast<double>(i), .seed = 2 + i})});
    input.of_runs.push_back({i, 0, "before"});
    input.of_runs.push_back({i, input.evaluations.size() - 1, "after"});
  }
  return input;
}

double NdcgOf(const EvaluationRecord& record) {
  for (const MeasureResult& measure : record.measures) {
    if (measure.name == "ndcg@10") return *measure.mean;
  }
  return -1;
}

TEST(SweepModels, EvaluationsAreDataBesideValidations) {
  const ReportInput input = Evaluated();
  const Sweep sweep = MakeSweep(input, {});
  ASSERT_THAT(sweep.data, SizeIs(2));
  const SweepData& data = sweep.data[1];
  EXPECT_EQ(data.Words(), "evaluation on packages, split test");
  for (size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(data.results[i]);
    EXPECT_EQ(data.results[i]->value, NdcgOf(input.evaluations[5 - i].record));
    EXPECT_EQ(data.results[i]->base, NdcgOf(input.evaluations[0].record));
  }
}

TEST(SweepModels, AMeasureOfEvaluationsAloneHasNoStepsToIt) {
  const ReportInput input = Evaluated();
  const Sweep sweep = MakeSweep(input, {.measure = "recall@100"});
  ASSERT_THAT(sweep.data, SizeIs(1));
  EXPECT_FALSE(sweep.data.front().validation);
  EXPECT_TRUE(Holds(MakeSweepReport(sweep).front().bytes, "No run was validated by recall@100"));
}

TEST(SweepModels, TheBestRunsOfFourGroupsAreComparedInPairsBestFirst) {
  const ReportInput input = Evaluated();
  const std::string page = MakeSweepReport(MakeSweep(input, {})).front().bytes;
  EXPECT_TRUE(Holds(page, "the best run of each of the first 4 groups (5 of 6 evaluations)"));
  const std::vector<std::string> sentences = Between(page, "<li><bdi>", "</bdi>");
  EXPECT_THAT(sentences, SizeIs(10));  // each two of the base and four models
  EXPECT_THAT(sentences, testing::Contains(testing::StartsWith("batch 16 lies above before")));
  EXPECT_THAT(sentences, testing::Contains(AllOf(HasSubstr("batch 19"), HasSubstr("batch 18"))));
  EXPECT_FALSE(Holds(page, "<bdi>batch 20 lies"));
  EXPECT_FALSE(Holds(page, ": after"));
}

TEST(SweepModels, SaysWhichModelsAreComparedWithTheFirstAlone) {
  const std::string page = PageOf(Evaluated());  // of six models
  EXPECT_THAT(Between(page, "<li><bdi>", "</bdi>"), SizeIs(11));
  EXPECT_TRUE(Holds(page,
                    "Compared with before alone, since all pairs would be too many to read: "
                    "r0: after."));
}

TEST(SweepModels, SaysWhatGainsAreOver) {
  ReportInput input = Evaluated();
  const std::string page = MakeSweepReport(MakeSweep(input, {})).front().bytes;
  EXPECT_TRUE(Holds(page, "Gain in ndcg@10 over the start of training"));
  EXPECT_TRUE(Holds(page, "Gain in ndcg@10 over the base model"));
  EXPECT_TRUE(Holds(page, "evaluation on packages, split test, over the base model</th>"));
  EXPECT_TRUE(Holds(page, "is over the base model as its folder holds it.</p>"));
  input.runs[0].keys["model.layers"] = {"1", 1};
  input.runs[1].keys["model.reinitialize_layers"] = {"2", 2};
  input.runs[2].keys["model.reinitialize_layers"] = {"0", 0};
  EXPECT_TRUE(Holds(MakeSweepReport(MakeSweep(input, {})).front().bytes,
                    "These are two models in 2 groups (model.layers, model.reinitialize_layers)"));
}

TEST(SweepModels, EvaluationsOfRunsThatHaveNotFinishedMakeNoColumn) {
  ReportInput input = Evaluated();
  for (RunRecord& run : input.runs) run.log.finished.reset();
  input.runs[4].log.finished = FinishedRow{.step = 40, .model_step = 20};
  input.evaluations[1].record.dataset.name = "elsewhere";  // of run 4
  const Sweep sweep = MakeSweep(input, {});
  ASSERT_THAT(sweep.data, SizeIs(2));
  EXPECT_EQ(sweep.data[1].name, "elsewhere, split test");
}

TEST(SweepModels, ShowsWhatPruningSamplersOfTheBestRunsSaw) {
  ReportInput input = InputOf(Three());
  input.runs[2].passes = {{.pass = 0, .batches = 3, .queries = 12, .left_out = 4}};
  input.runs[2].queries_by_draws = {4, 8};
  input.runs[0].passes = {{.pass = 0, .batches = 9, .queries = 99}};  // a worse seed of its group
  const std::string page = MakeSweepReport(MakeSweep(input, {})).front().bytes;
  EXPECT_TRUE(Holds(page, "Epochs of a3"));
  EXPECT_FALSE(Holds(page, "Epochs of a1"));
  EXPECT_FALSE(Holds(page, "keeps no records"));
}

TEST(SweepModels, PassesGroupsWithoutRecordsOverForThoseThatHaveThem) {
  ReportInput input = Evaluated();
  input.runs[4].passes = {{.pass = 0, .batches = 3, .queries = 12, .left_out = 4}};
  EXPECT_TRUE(Holds(MakeSweepReport(MakeSweep(input, {})).front().bytes, "Epochs of r4"));
  for (RunRecord& run : input.runs) run.passes = input.runs[4].passes;
  const std::string page = MakeSweepReport(MakeSweep(input, {})).front().bytes;
  EXPECT_TRUE(Holds(page, "Epochs of r3"));
  EXPECT_FALSE(Holds(page, "Epochs of r4"));
  EXPECT_TRUE(Holds(page, "of 4 groups whose samplers keep records; one is left out: "));
}

TEST(SweepModels, ShowsThePicturesOfWhatSamplersPreferBeforeRecordsWithoutOne) {
  ReportInput input = Evaluated();
  for (RunRecord& run : input.runs) {
    run.passes = {{.pass = 0, .batches = 3, .queries = 12, .left_out = 4}};
    run.queries_by_draws = {4, 8};
  }
  const std::string without = MakeSweepReport(MakeSweep(input, {})).front().bytes;
  input.runs[4].draws_by_score = DrawsByScore{
      .bins = {{.low = 0, .high = 1, .queries = 12}}, .passes = {0}, .expected = {{1}}};
  const std::string page = MakeSweepReport(MakeSweep(input, {})).front().bytes;
  EXPECT_TRUE(Holds(without, "Epochs of r3"));
  EXPECT_FALSE(Holds(without, "Epochs of r4"));
  EXPECT_LT(page.find("Epochs of r4"), page.find("Epochs of r3"));
}

}  // namespace
}  // namespace tandem::report
