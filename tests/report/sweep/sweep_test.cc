// The page of many runs: means over seeds, gains, what is left out, and what the figures hold.
#include "report/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "report/sweep/sweep_fixture.h"
#include "report/sweep/sweep_parts.h"

namespace tandem::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Sweep, MeansAndIntervalsAreOverSeeds) {
  const ReportInput input = InputOf(Three());
  const Sweep sweep = MakeSweep(input, {});
  ASSERT_EQ(sweep.groups.size(), 3u);
  EXPECT_EQ(sweep.data.front().measure, "ndcg@10");
  EXPECT_EQ(sweep.groups[0].name, "infonce, learning_rate 0.0001");
  const GroupMean a = ValueOf(sweep.data.front(), sweep.groups[0]);
  EXPECT_NEAR(a->mean, 0.52, 1e-12);
  // Student's t of 2 degrees of freedom at 97.5 % is 4.302653, the deviation 0.02.
  EXPECT_NEAR(a->interval->high - a->mean, 4.302653 * 0.02 / std::sqrt(3.0), 1e-6);
  EXPECT_NEAR(GainOf(sweep.data.front(), sweep.groups[0])->mean, 0.12, 1e-12);
  const GroupMean c = ValueOf(sweep.data.front(), sweep.groups[2]);
  EXPECT_EQ(sweep.groups[2].name, "mann_whitney, learning_rate 0.0001");
  EXPECT_FALSE(c->interval);
}

TEST(Sweep, LeavesOutAndNamesWhatHasNotFinishedOrIsBroken) {
  std::vector<MadeRun> made = Three();
  made[2].finished = false;
  ReportInput input = InputOf(made);
  input.runs.push_back({.name = "torn", .missing = {"torn: there is no recipe."}});
  const Sweep sweep = MakeSweep(input, {});
  EXPECT_THAT(sweep.groups[0].runs, ElementsAre(0, 1));
  const std::string page = MakeSweepReport(sweep).front().bytes;
  EXPECT_TRUE(Holds(page, "Not finished, and in no mean: a3."));
  EXPECT_TRUE(Holds(page, "Broken, and in no group: torn."));
  EXPECT_TRUE(Holds(page, "torn: there is no recipe."));
  EXPECT_TRUE(Holds(page, "1 group has one seed and so no interval"));
}

TEST(Sweep, CountsEachSeedOnceAndNamesRepeats) {
  std::vector<MadeRun> made = Three();
  made.push_back({.name = "z1", .seed = 1, .value = 0.50});
  made.push_back({.name = "z2", .seed = 2, .value = 0.53});
  const ReportInput input = InputOf(made);
  const Sweep sweep = MakeSweep(input, {});
  EXPECT_THAT(sweep.groups[0].runs, ElementsAre(0, 1, 2));
  EXPECT_EQ(ResultsOf(sweep.data.front(), sweep.groups[0]), 3u);
  EXPECT_THAT(SweepSentences(sweep),
              testing::IsSupersetOf(
                  {AllOf(HasSubstr("same recipe, seed and values"), HasSubstr(": z1 (of a1).")),
                   AllOf(HasSubstr("but other values"), HasSubstr(": z2 (of a2)."))}));
  const std::string page = MakeSweepReport(sweep).front().bytes;
  EXPECT_TRUE(Holds(page, "8 runs, of which 8 finished (2 of them repeats), in 3 groups."));
  EXPECT_TRUE(Holds(page, "finished, a repeat"));
}

TEST(Sweep, SaysWhatIsWrongWithFilesOnThePageAndOnTheTerminal) {
  ReportInput input = InputOf(Three());
  for (const size_t i : {0, 1}) {
    input.runs[i].missing = {input.runs[i].name + ": there is no timing.jsonl."};
  }
  input.runs[2].log.validations.erase(input.runs[2].log.validations.begin() + 1);
  input.runs.push_back({.name = "begun", .keys = input.runs[0].keys});
  input.runs.push_back({.name = "torn", .missing = {"torn: recipe.resolved.toml:3: no."}});
  input.missing = {"a1: an evaluation cannot be read: report/x.evaluation.json: no."};
  const Sweep sweep = MakeSweep(input, {});
  EXPECT_THAT(sweep.groups[0].runs, ElementsAre(0, 1));
  const std::vector<std::string> said = SweepSentences(sweep);
  const std::string page = MakeSweepReport(sweep).front().bytes;
  EXPECT_THAT(said, testing::Contains("Broken, and in no group: a3, torn."));
  for (const char* sentence :
       {"a1, a2: there is no timing.jsonl.", "begun: metrics.jsonl is empty.",
        "torn: recipe.resolved.toml:3: no."}) {
    EXPECT_THAT(said, testing::Contains(sentence));
    EXPECT_TRUE(Holds(page, sentence));
  }
  EXPECT_THAT(said, testing::Contains(HasSubstr("a3/metrics.jsonl:0: finished.model_step is 20")));
  EXPECT_THAT(said, testing::Contains(input.missing.front()));
}

TEST(Sweep, SaysThatSeedsDrawHeldOutQueries) {
  ReportInput input = InputOf(Three());
  const std::string words = "held out of the training data are drawn by the seed";
  EXPECT_FALSE(Holds(MakeSweepReport(MakeSweep(input, {})).front().bytes, words));
  for (RunRecord& run : input.runs) run.validation->held_out = true;
  EXPECT_TRUE(Holds(MakeSweepReport(MakeSweep(input, {})).front().bytes, words));
}

TEST(Sweep, ALossIsBetterWhereItIsLower) {
  ReportInput input = InputOf(Three());
  for (RunRecord& run : input.runs) {
    for (ValidationRow& row : run.log.validations) row.measures.front().name = "loss";
  }
  const Sweep sweep = MakeSweep(input, {});
  EXPECT_EQ(sweep.groups.front().name, "mann_whitney, learning_rate 0.0001");
  EXPECT_NEAR(GainOf(sweep.data.front(), sweep.groups.front())->mean, -0.01, 1e-12);
}

TEST(Sweep, TakesTheMeasureThatIsAskedForOrSaysWhichThereAre) {
  const ReportInput input = InputOf(Three());
  const Sweep sweep = MakeSweep(input, {.measure = "mrr@10"});
  EXPECT_NEAR(ValueOf(sweep.data.front(), sweep.groups.front())->mean, 0.26, 1e-12);
  try {
    MakeSweep(input, {.measure = "mrr@1"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("they have ndcg@10, mrr@10; did you mean mrr@10?"));
  }
}

TEST(Sweep, RunsOfOtherValidationDataAreNotCompared) {
  ReportInput input = InputOf(Three());
  input.runs[5].validation->data = "others";
  const Sweep sweep = MakeSweep(input, {});
  ASSERT_EQ(sweep.data.size(), 2u);
  EXPECT_THAT(sweep.data[1].name, HasSubstr("others"));
  EXPECT_FALSE(ValueOf(sweep.data[0], sweep.groups.back()));
  EXPECT_TRUE(Holds(MakeSweepReport(sweep).front().bytes, "and in no mean of it: c1."));
}

TEST(Sweep, ValidationDataOfOneNameAndOtherPathsAreNotCompared) {
  ReportInput input = InputOf(Three());
  for (RunRecord& run : input.runs) {
    run.keys["validation.data"] = {"packages", std::nullopt};
    run.inputs.paths["validation.data"] = "/d/old/packages";
  }
  input.runs[5].inputs.paths["validation.data"] = "/d/new/packages";
  const Sweep sweep = MakeSweep(input, {});
  ASSERT_EQ(sweep.data.size(), 2u);
  EXPECT_EQ(sweep.data[0].name, "queries of old/packages, split dev");
  EXPECT_EQ(sweep.data[1].name, "queries of new/packages, split dev");
  EXPECT_FALSE(sweep.data[0].results[5]);
  EXPECT_EQ(sweep.groups.front().name,
            "infonce, learning_rate 0.0001, validation.data old/packages");
  const std::string page = MakeSweepReport(sweep).front().bytes;
  EXPECT_TRUE(Holds(page, "It is the best of 2 groups on the data that compared them"));
  EXPECT_TRUE(Holds(page, "ndcg@10, validation on queries of new/packages, split dev</th>"));
}

TEST(Sweep, NamesRunsWhoseDataOnlyANameTells) {
  ReportInput input = InputOf({{.name = "a"}, {.name = "b", .seed = 2}});
  for (RunRecord& run : input.runs) run.keys["data.train"] = {"mini", std::nullopt};
  input.runs[0].inputs.paths["data.train"] = "/x/mini";
  EXPECT_THAT(SweepSentences(MakeSweep(input, {})),
              testing::Contains(testing::EndsWith("the name of their folder alone does: b.")));
}

TEST(Sweep, RunsThatHaveNotFinishedChooseNeitherDataNorMeasure) {
  std::vector<MadeRun> made = Three();
  for (size_t i = 1; i < made.size(); ++i) made[i].finished = false;
  ReportInput input = InputOf(made);
  for (size_t i = 1; i < made.size(); ++i) {
    input.runs[i].validation->data = "elsewhere";
    for (ValidationRow& row : input.runs[i].log.validations) row.measures.front().name = "map";
  }
  input.runs.push_back(RunOf({.name = "torn"}));
  input.runs.back().keys.clear();
  input.runs.back().validation->data = "nowhere";
  const Sweep sweep = MakeSweep(input, {});
  ASSERT_EQ(sweep.data.size(), 1u);
  EXPECT_EQ(sweep.data.front().name, "queries of packages, split dev");
  EXPECT_EQ(sweep.data.front().measure, "ndcg@10");
  ASSERT_TRUE(ValueOf(sweep.data.front(), sweep.groups.front()));
  EXPECT_EQ(ValueOf(sweep.data.front(), sweep.groups.front())->mean, 0.5);
}

TEST(Sweep, AMeasureOfOneOfSeveralDataSetsIsOnItsQueries) {
  ReportInput input = InputOf({{.name = "a"}});
  for (ValidationRow& row : input.runs[0].log.validations) {
    row.measures.push_back({"ndcg@10[one]", 0.3});
  }
  input.runs[0].validation = ValidationFacts{.data = "one, two", .queries = 56};
  const Sweep sweep = MakeSweep(input, {});
  ASSERT_EQ(sweep.data.size(), 2u);
  EXPECT_EQ(sweep.data[1].name, "those of one among 56 queries of one, two");
}

TEST(Sweep, FiguresByTheKeysThatDiffer) {
  const ReportInput input = InputOf(Three());
  const Sweep sweep = MakeSweep(input, {});
  EXPECT_THAT(FigureNames(MakeSweepReport(sweep).front().bytes),
              ElementsAre("by-objective-name", "by-optimizer-learning_rate", "gain",
                          "best-by-steps", "best-by-seconds"));
  const std::string rates = FileOf(sweep, "figures/by-optimizer-learning_rate.tsv");
  EXPECT_THAT(rates, HasSubstr("series\toptimizer.learning_rate\tvalue\tlow\thigh\n"));
  EXPECT_THAT(rates, HasSubstr("infonce\t0.0001\t0.52\t0.470317\t0.569683\n"));
  EXPECT_THAT(rates, HasSubstr("mann_whitney\t0.0001\t0.41\t\t\n"));
  const std::string names = FileOf(sweep, "figures/by-objective-name.tsv");
  EXPECT_THAT(names, HasSubstr("\t0.41\tmann_whitney\t\t\n"));
  const std::string picture = FileOf(sweep, "figures/by-optimizer-learning_rate.svg");
  EXPECT_THAT(picture, HasSubstr(" log\""));  // the rates span a decade
  EXPECT_THAT(picture, HasSubstr(">1e-05</text>"));
}

TEST(Sweep, AxesHaveValuesWithMeansAlone) {
  ReportInput input = InputOf(Three());
  input.runs[5].validation->data = "others";
  input.runs[5].keys["optimizer.learning_rate"] = {"0.0", 0.0};
  const Sweep sweep = MakeSweep(input, {});
  const std::string picture = FileOf(sweep, "figures/by-optimizer-learning_rate.svg");
  EXPECT_THAT(picture, HasSubstr(" log\""));
  EXPECT_THAT(picture, Not(HasSubstr(">0</text>")));
  EXPECT_THAT(picture, Not(HasSubstr(">0.0</text>")));
  // Of the objectives one alone has means, so that the page shows nothing by it.
  EXPECT_EQ(FileOf(sweep, "figures/by-objective-name.svg"), "");
}

TEST(Sweep, CurvesToTheBestAreOfOneDataSet) {
  ReportInput input = InputOf(Three());
  input.runs[5].validation->data = "others";
  const Sweep sweep = MakeSweep(input, {});
  EXPECT_THAT(FileOf(sweep, "figures/best-by-steps.tsv"), Not(HasSubstr("c1")));
  EXPECT_THAT(FileOf(sweep, "figures/best-by-steps.tsv"), HasSubstr("b2"));
  const std::string page = MakeSweepReport(sweep).front().bytes;
  EXPECT_TRUE(Holds(page,
                    "A run that was validated on other data or by another measure is not "
                    "here"));
  const std::string steps = page.substr(page.find("Steps to the best</h2>"));
  EXPECT_EQ(Between(steps.substr(0, steps.find("</table>")), ">20</td>", "<").size(), 2u);
}

TEST(Sweep, SaysWhatAKeyIsThatDoesNotDiffer) {
  const ReportInput input = InputOf(Three());
  const Sweep sweep = MakeSweep(input, {.by = "train.batch"});
  EXPECT_THAT(SweepSentences(sweep),
              testing::Contains("--by train.batch: it is 32 in all finished runs."));
}

TEST(Sweep, GainsAreColouredWhereTheIntervalLeavesOutZero) {
  const ReportInput input = InputOf(Three());
  const std::string gains = FileOf(MakeSweep(input, {}), "figures/gain.tsv");
  EXPECT_THAT(gains, HasSubstr("better than the start\t0.12\tinfonce, learning_rate 0.0001\t"));
  EXPECT_THAT(gains, HasSubstr("not told from 0\t0.11\tinfonce, learning_rate 1e-05\t"));
  EXPECT_THAT(gains, HasSubstr("not told from 0\t0.01\tmann_whitney, learning_rate 0.0001\t\t\n"));
}

TEST(Sweep, SaysWhichRunsEndedAsTheirBase) {
  std::vector<MadeRun> made = Three();
  made[5].base = 0.45;  // above its best later one
  ReportInput input = InputOf(made);
  input.runs[5].log.finished->model_step = 0;
  EXPECT_TRUE(Holds(MakeSweepReport(MakeSweep(input, {})).front().bytes,
                    "1 run ended as its base, since no validation was better than the one before "
                    "training: c1."));
}

TEST(Sweep, LegendsListTenLinesAndTheOthersAsOne) {
  std::vector<MadeRun> made;
  for (int i = 0; i < 15; ++i) made.push_back({.name = "r" + std::to_string(i), .value = 0.5});
  ReportInput input = InputOf(made);
  for (int i = 0; i < 15; ++i) {
    const double batch = 16 + i;
    input.runs[static_cast<size_t>(i)].keys["train.batch"] = {std::to_string(16 + i), batch};
  }
  const std::string svg = FileOf(MakeSweep(input, {}), "figures/best-by-steps.svg");
  EXPECT_THAT(svg, HasSubstr(">5 other groups</text>"));
  EXPECT_EQ(Between(svg, ">batch ", "<").size(), 10u);
}

TEST(Sweep, LongTablesAreFolded) {
  std::vector<MadeRun> made;
  for (int i = 0; i < 20; ++i) made.push_back({.name = "r" + std::to_string(i)});
  ReportInput input = InputOf(made);
  for (size_t i = 0; i < 20; ++i) {
    input.runs[i].keys["train.batch"] = {std::to_string(i), static_cast<double>(i)};
  }
  EXPECT_TRUE(
      Holds(MakeSweepReport(MakeSweep(input, {})).front().bytes, "<summary>All 20 rows</summary>"));
}

TEST(Sweep, WithoutAMeasureSaysSoInWholeWords) {
  ReportInput input = InputOf({{.name = "a"}, {.name = "b", .seed = 2}});
  for (RunRecord& run : input.runs) run.log.validations.clear();
  const std::string page = MakeSweepReport(MakeSweep(input, {})).front().bytes;
  EXPECT_TRUE(Holds(page, "2 runs, of which 2 finished, in 1 group. No run was evaluated"));
  EXPECT_TRUE(Holds(page,
                    "Finished, but without a measure on any data, and in no mean of it: a, "
                    "b."));
  EXPECT_TRUE(Holds(page, ">Runs</caption>"));
  EXPECT_TRUE(Holds(page, ">Groups of runs that differ in their seed alone</caption>"));
  EXPECT_FALSE(Holds(page, "no data"));
  EXPECT_TRUE(Holds(page, "No run was validated, so that nobody knows which step was the best."));
}

TEST(SweepKey, UnknownOnesNameTheNearest) {
  const auto message = [](const std::string& path) -> std::string {
    try {
      CheckSweepKey("--by", path, {});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("train.batch"), "");
  EXPECT_EQ(message("data.source.2.path"), "");
  EXPECT_THAT(message("train.bach"), HasSubstr("did you mean train.batch?"));
  EXPECT_THAT(message("learning_rate"), HasSubstr("did you mean optimizer.learning_rate?"));
  EXPECT_THAT(message("train.7.batch"), HasSubstr("train.7.batch is unknown"));
  EXPECT_THAT(message("data.source.0.path"), HasSubstr("is unknown"));
  EXPECT_EQ(message("validation.source.12.path"), "");
  EXPECT_THAT(message(""), HasSubstr("--by: is empty; expected a key of recipes"));
  EXPECT_THAT(message("seed"), HasSubstr("does not tell groups of runs apart"));
}

}  // namespace
}  // namespace tandem::report
