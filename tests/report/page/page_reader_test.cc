// What a reader without statistics is told: which model to serve, what became worse, which data a
// number is of, why something is not there, and what words mean.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "report/page/page_fixture.h"
#include "report/records/same_data.h"

namespace tandem::report {
namespace {

using testing::ElementsAre;
using testing::Not;

using PageReader = PageTest;

TEST_F(PageReader, BeginsWithWhichModelToServe) {
  WriteExampleRun(Run("mine"), {});
  ReportInput input = Read({"mine"});
  const std::string page = PageOf(input);
  const std::string main = page.substr(page.find("<main"));
  const size_t advice =
      main.find("<p class=\"advice\"><strong>Serve the trained model:</strong> its ");
  ASSERT_NE(advice, std::string::npos);
  EXPECT_LT(advice, main.find("<dl class=\"tiles\">"));
  EXPECT_THAT(main, testing::ContainsRegex("hardly chance \\(p\u00a0(=|&lt;)\u00a0"));
  input.evaluations.resize(1);
  EXPECT_TRUE(Holds(PageOf(input), "cannot say: one alone was measured on this data."));
  input = Read({"mine"});
  for (LabelledEvaluation& one : input.evaluations) {
    for (MeasureResult& measure : one.record.measures) measure.per_query.clear();
  }
  EXPECT_TRUE(Holds(PageOf(input), "cannot say: the values of single queries were not kept"));
}

// A colour says what a test has told from chance; the note says the same without it.
TEST_F(PageReader, ATileIsBetterOrWorseOnlyWhereThatIsSeen) {
  WriteExampleRun(Run("mine"), {});
  ReportInput input = Read({"mine"});
  const auto give = [&](size_t evaluation, size_t ones) {
    EvaluationRecord& record = input.evaluations[evaluation].record;
    MeasureResult& measure = record.measures.front();
    measure.per_query.assign(record.query_ids.size(), 0.5);
    std::fill_n(measure.per_query.begin(), ones, 1);
    measure.mean =
        0.5 + 0.5 * static_cast<double>(ones) / static_cast<double>(record.query_ids.size());
  };
  const auto kinds = [&] {
    const std::string page = PageOf(input);
    return Between(Between(page, "<dl class=\"tiles\">", "</dl>").front(), "<div class=\"", "\"");
  };
  // Of the pooled AUC no test was made; the best step has nothing before it.
  give(0, 10);
  give(1, 0);
  EXPECT_THAT(kinds(), ElementsAre("worse", "same", "alone"));
  EXPECT_TRUE(Holds(PageOf(input), "<small>▼ worse: -0."));
  give(0, 0);
  give(1, 10);
  EXPECT_THAT(kinds(), ElementsAre("better", "same", "alone"));
  EXPECT_TRUE(Holds(PageOf(input), "<small>▲ better: +0."));
  give(1, 3);  // p is 0.25
  EXPECT_THAT(kinds(), ElementsAre("same", "same", "alone"));
  EXPECT_TRUE(Holds(PageOf(input), "<small>no difference seen: +0."));
  give(1, 0);
  EXPECT_THAT(kinds(), ElementsAre("same", "same", "alone"));
  EXPECT_TRUE(Holds(PageOf(input), "<small>unchanged: +0.000"));
}

TEST_F(PageReader, ACalibrationThatTheModelDoesNotHaveHasNoTile) {
  WriteExampleRun(Run("mine"), {});
  ReportInput input = Read({"mine"});
  const std::string tile = "<dt>calibration error of first results</dt>";
  EXPECT_FALSE(Holds(PageOf(input), tile));
  for (LabelledEvaluation& one : input.evaluations) {
    one.record.calibration[1].method += kKeptCalibration;
    one.record.calibration[1].at_depths[0].expected_calibration_error = 0.125;
  }
  EXPECT_TRUE(Holds(PageOf(input), tile));
  EXPECT_TRUE(Holds(PageOf(input), "<strong>0.125</strong><small>unchanged: +0.000 from 0.125"));
}

TEST_F(PageReader, HasTheCommandsThatServeTheModel) {
  WriteExampleRun(Run("mine"), {});
  ReportInput input = Read({"mine"});
  ASSERT_EQ(input.evaluations[0].label, "before");
  EXPECT_FALSE(Holds(PageOf(input), "tandem index build"));  // nobody said where the models are
  input.evaluations[0].place = {"models/base", "data/mine"};
  input.evaluations[1].place = {"runs/my own/model", "data/mine"};
  EXPECT_TRUE(Holds(PageOf(input),
                    "<pre>tandem index build &#39;runs/my own/model&#39; data/mine --output "
                    "mine.index --with-model\ntandem serve mine.index</pre>"));
  // The verdict keeps the other one.
  std::swap(input.evaluations[0].record.measures, input.evaluations[1].record.measures);
  input.evaluations[0].record.dataset.name += kByDocument;
  input.evaluations[1].record.dataset.name += kByDocument;
  EXPECT_TRUE(Holds(PageOf(input),
                    "<pre>tandem index build models/base data/mine --output mine.index "
                    "--with-model\ntandem serve mine.index --by-document</pre>"));
}

TEST_F(PageReader, SaysWhichDataValidationAndTableAreOf) {
  WriteExampleRun(Run("mine"), {});
  ReportInput input = Read({"mine"});
  const std::string table = "intervals, on packages, split test";
  EXPECT_TRUE(Holds(PageOf(input), table + "</caption>"));  // it is not known
  input.runs[0].validation = {
      .data = "pairs", .held_out = true, .queries = 51, .documents = 500, .corpus = 1'811};
  const std::string words =
      "51 queries that were held out of the training data (pairs), ranked among 500 of 1,811 "
      "documents";
  EXPECT_TRUE(Holds(PageOf(input), table +
                                       " (400 queries). The curve of validation is of other "
                                       "data: " +
                                       words + "</caption>"));
  EXPECT_TRUE(Holds(PageOf(input), "Measured on " + words +
                                       ". The table of measures is of other data: packages, "
                                       "split test (400 queries, 63,410 documents).</span>"));
  EXPECT_FALSE(Holds(PageOf(input), "flatters"));
  // The queries of the table chose the step.
  input.runs[0].validation = {.data = "packages", .split = "test", .queries = 400};
  EXPECT_TRUE(Holds(PageOf(input), table +
                                       " (400 queries). The same queries chose the best step of "
                                       "training, which flatters the trained model: validation "
                                       "was on 400 queries of packages, split test</caption>"));
  EXPECT_TRUE(Holds(PageOf(input), "split test: those of the table of measures.</span>"));
  EXPECT_TRUE(Holds(PageOf(input),
                    "; these queries also chose the best step of training, which "
                    "flatters the trained model: ask others (--dataset, --split).</p>"));
  input.runs[0].validation->split = "dev";
  EXPECT_FALSE(Holds(PageOf(input), "flatters"));
}

TEST_F(PageReader, SaysWhyThereAreNoViewsAndNoThresholds) {
  WriteExampleRun(Run("mine"), {});
  ReportInput input = Read({"mine"});
  for (LabelledEvaluation& one : input.evaluations) one.record.views.reset();
  EXPECT_TRUE(Holds(PageOf(input),
                    "No views of the embeddings on packages, split test: these "
                    "evaluations kept none; tandem report RUN --dataset FOLDER"));
  EXPECT_FALSE(Holds(PageOf(input), "No threshold"));
  for (LabelledEvaluation& one : input.evaluations) one.record.roc->thresholds.resize(0);
  EXPECT_TRUE(Holds(PageOf(input), "No threshold stands here: this evaluation kept none;"));
  for (LabelledEvaluation& one : input.evaluations) one.record.roc->thresholds.resize(2);
  EXPECT_TRUE(Holds(PageOf(input), "No threshold stands here: after meets none of the targets"));
  for (LabelledEvaluation& one : input.evaluations) one.record.dataset.name += kByDocument;
  const std::string page = PageOf(input);
  EXPECT_TRUE(Holds(page,
                    "No views of the embeddings on packages, by document, split test: "
                    "documents are ranked by their passages"));
  EXPECT_TRUE(Holds(page, "No threshold stands here: a threshold would count passages"));
  EXPECT_TRUE(Holds(page, "No thresholds on packages, by document, split test: a threshold would"));
  for (LabelledEvaluation& one : input.evaluations) one.record.roc.reset();
  EXPECT_TRUE(Holds(PageOf(input), "No ROC on packages, by document, split test: it needs"));
}

TEST_F(PageReader, ExplainsTheWordsThatItUses) {
  WriteExampleRun(Run("mine"), {});
  ReportInput input = Read({"mine"});
  const auto explained = [&] {
    const std::string page = PageOf(input);
    return Between(page.substr(page.find("<dl class=\"glossary\">")), "<dt><bdi>", "</bdi>");
  };
  const std::vector<std::string> all = explained();
  for (const char* word : {"ndcg@10", "AUC", "ROC", "p", "gained, lost", "alignment", "uniformity",
                           "centroid gap", "Brier score, log loss", "step, epoch", "validation"}) {
    EXPECT_THAT(all, testing::Contains(word));
  }
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  // Every measure of the table of measures and every heading of the table of views.
  for (const MeasureResult& measure : input.evaluations[0].record.measures) {
    EXPECT_THAT(all, testing::Contains(measure.name));
  }
  for (LabelledEvaluation& one : input.evaluations) one.record.views.reset();
  EXPECT_THAT(explained(), Not(testing::Contains("alignment")));
  input.runs.clear();
  EXPECT_THAT(explained(), Not(testing::Contains("step, epoch")));
  EXPECT_THAT(explained(), testing::Contains("AUC"));
}

}  // namespace
}  // namespace tandem::report
