#include "report/page/page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "report/page/page_fixture.h"
#include "report/records/evaluation_file.h"

namespace tandem::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(PageTest, OfARunHasEverySectionAndFigure) {
  WriteExampleRun(Run("mine"), {.separation = 0.25, .seed = 2});
  const std::string page = PageOf(Read({"mine"}));
  // What is missing is the recipe: nobody gave the catalogues that its names are of.
  EXPECT_THAT(Between(page, "<section id=\"", "\""),
              ElementsAre("measures", "training", "discrimination", "calibration", "queries",
                          "views", "sampling", "time", "run", "words", "missing"));
  EXPECT_THAT(FigureNames(page),
              ElementsAre("loss", "validation", "learning-rate", "roc", "precision-recall",
                          "scores", "scores-2", "reliability", "nearest-cosine", "ratio",
                          "projection", "projection-2", "draws", "time"));
  EXPECT_TRUE(Holds(page, "<h1>Report of mine</h1>"));
  // The headline table has before and after, with intervals; steps and time to the best.
  EXPECT_TRUE(Holds(page,
                    "<th scope=\"col\" class=\"number\">before</th><th scope=\"col\" "
                    "class=\"number\">after</th>"));
  EXPECT_TRUE(Holds(page, " lost; p\u00a0&lt;\u00a00.0001"));
  // On a small screen the difference stays in sight.
  EXPECT_TRUE(Holds(page, "class=\"number matters\">Difference</th>"));
  // Over all results the error says nothing of what a reader sees first.
  EXPECT_TRUE(Holds(page, "chosen on these same queries"));
  EXPECT_TRUE(Holds(page, "and measured on the same queries: on others they hold less well"));
  EXPECT_TRUE(Holds(page, "precision &gt;= 0.9"));
  EXPECT_TRUE(Holds(page, "cannot be met"));
  EXPECT_TRUE(Holds(page, "after 5 min 06 s"));
  EXPECT_TRUE(Holds(page, "2.0 GiB"));
  EXPECT_TRUE(Holds(page, "draw plots without a display"));
}

TEST_F(PageTest, ARunThatNobodyEvaluatedShowsItsValidation) {
  WriteExampleRun(Run("mine"), {});
  EXPECT_FALSE(Holds(PageOf(Read({"mine"})), "these queries chose the step"));
  for (const char* name : {"before", "after"}) {
    std::filesystem::remove(Run("mine") + "/report/" + name + ".evaluation.json");
  }
  const ReportInput input = Read({"mine"});
  const std::vector<ValidationRow>& rows = input.runs.front().log.validations;
  ASSERT_EQ(rows.front().step, 0);
  const double best = input.runs.front().log.BestValidation()->measures.front().AsDouble();
  const double before = rows.front().measures.front().AsDouble();
  EXPECT_TRUE(
      Holds(PageOf(input), fmt::format("<strong>{:.3f}</strong><small>{:+.3f} from {:.3f} before "
                                       "training; these queries chose the step</small>",
                                       best, best - before, before)));
}

TEST_F(PageTest, SaysFromWhichGradeADocumentIsRight) {
  WriteExampleRun(Run("mine"), {});
  ReportInput input = Read({"mine"});
  ASSERT_FALSE(input.evaluations.empty());
  EXPECT_TRUE(Holds(PageOf(input), " of the results are right and "));
  for (LabelledEvaluation& one : input.evaluations) one.record.dataset.relevance_level = 2;
  EXPECT_TRUE(Holds(PageOf(input), " of the results are right (of grade 2 or more) and "));
}

TEST_F(PageTest, IsOneFileThatLoadsNothing) {
  WriteExampleRun(Run("mine"), {});
  const std::string page = PageOf(Read({"mine"}));
  EXPECT_TRUE(Holds(page,
                    "content=\"default-src &#39;none&#39;; style-src "
                    "&#39;sha256-"));
  EXPECT_THAT(Between(page, " src=\"", "\""), testing::IsEmpty());
  EXPECT_FALSE(Holds(page, "http://"));
  EXPECT_FALSE(Holds(page, "https://"));
  for (const std::string& link : Between(page, " href=\"", "\"")) {
    EXPECT_THAT(link, testing::AnyOf(testing::StartsWith("#"), testing::StartsWith("figures/")));
  }
}

TEST_F(PageTest, CanBeReadWithoutEyes) {
  WriteExampleRun(Run("mine"), {});
  const std::string page = PageOf(Read({"mine"}));
  EXPECT_TRUE(Holds(page, "<html lang=\"en\">"));
  EXPECT_TRUE(Holds(page, "<a class=\"skip\" href=\"#main\">"));
  EXPECT_TRUE(Holds(page, "<main id=\"main\">"));
  EXPECT_EQ(Between(page, "<h1>", "</h1>").size(), 1);
  // Every table has a caption, and every figure has its numbers below it.
  EXPECT_EQ(Between(page, "<table", ">").size(), Between(page, "<caption id=", ">").size());
  EXPECT_EQ(Between(page, "<details class=\"numbers\">", "<").size(), FigureNames(page).size());
}

TEST_F(PageTest, BringsEachFigureAsFiles) {
  WriteExampleRun(Run("mine"), {});
  const std::vector<ReportFile> files = MakeReport(Read({"mine"}));
  const auto has = [&](const std::string& path) {
    return std::any_of(files.begin(), files.end(),
                       [&](const ReportFile& file) { return file.path == path; });
  };
  EXPECT_EQ(files.front().path, "index.html");
  EXPECT_EQ(files.size(), 1 + 2 * FigureNames(files.front().bytes).size());
  EXPECT_TRUE(has("figures/roc.tsv"));
  EXPECT_TRUE(has("figures/roc.svg"));
}

TEST_F(PageTest, IsTheSameTwice) {
  WriteExampleRun(Run("mine"), {});
  EXPECT_EQ(PageOf(Read({"mine"})), PageOf(Read({"mine"})));
}

TEST_F(PageTest, ComparesRunsOverEachOther) {
  WriteExampleRun(Run("one"), {.separation = 0.3, .seed = 2});
  WriteExampleRun(Run("two"), {.separation = 0.2, .seed = 3});
  const ReportInput input = Read({"one", "two"});
  std::vector<std::string> labels;
  for (const LabelledEvaluation& one : input.evaluations) labels.push_back(one.label);
  // Both began with the same model, which is there once.
  EXPECT_THAT(labels, ElementsAre("before", "one: after", "two: after"));
  const std::vector<ReportFile> files = MakeReport(input);
  // The series of a figure, by the first cells of its rows.
  const auto series = [&](const std::string& figure) {
    const auto file = std::find_if(files.begin(), files.end(), [&](const ReportFile& one) {
      return one.path == "figures/" + figure + ".tsv";
    });
    const std::vector<std::string> cells = Between(file->bytes, "\n", "\t");
    return std::set<std::string>(cells.begin(), cells.end() - 1);  // after the last line end
  };
  EXPECT_THAT(series("roc"), ElementsAre("before", "one: after", "two: after"));
  EXPECT_THAT(series("loss"), ElementsAre("one", "two"));
}

TEST_F(PageTest, TheFirstNumberSaysWhetherItIsMoreThanChance) {
  WriteExampleRun(Run("mine"), {});
  EXPECT_THAT(PageOf(Read({"mine"})),
              testing::ContainsRegex("from 0\\.[0-9]+; queries: [0-9]+ gained, [0-9]+ lost; p\u00a0"
                                     "(=|&lt;)\u00a0[0-9.]+</small>"));
}

TEST_F(PageTest, LeavesOutABeforeThatIsOfOtherDataThanAfter) {
  WriteExampleRun(Run("mine"), {});
  EvaluationRecord after = ExampleEvaluation({.separation = 0.3});
  const std::string file = Run("mine") + "/report/after.evaluation.json";
  const auto labels = [&](const std::vector<std::filesystem::path>& fresh = {}) {
    Measured measured;
    for (const auto& path : fresh) measured.files[path] = {.model = "m", .data = "d"};
    std::string all;
    for (const LabelledEvaluation& one :
         ReadReportInput(std::vector{Run("mine")}, {}, measured).evaluations) {
      all += one.label + " ";
      EXPECT_EQ(one.place.has_value(), !fresh.empty());
    }
    return all;
  };
  const auto write = [&] { WriteFileAtomically(file, EvaluationText(after)); };
  after.dataset.documents = 40;
  write();
  EXPECT_EQ(labels(), "after ");
  EXPECT_EQ(labels({file}), "after ");
  EXPECT_EQ(labels({Run("mine") + "/report/before.evaluation.json"}), "before ");
  const std::string page = PageOf(Read({"mine"}));
  EXPECT_TRUE(Holds(page,
                    "mine: before is left out: before and after were not measured on the same data "
                    "but on packages, split test (400 queries, 63,410 documents) and packages, "
                    "split test (400 queries, 40 documents)."));
  EXPECT_FALSE(Holds(page, "gained"));
  // There are as many documents and queries, but other queries.
  after.dataset.documents = 63'410;
  after.query_ids[7] = "elsewhere";
  write();
  EXPECT_EQ(labels(), "after ");
  EXPECT_TRUE(
      Holds(PageOf(Read({"mine"})), "(400 queries, 63,410 documents) and as many other queries."));
  // The same queries, but other texts or judgements.
  after = ExampleEvaluation({.separation = 0.3});
  after.dataset.fingerprint = "00000000000000aa";
  write();
  EXPECT_EQ(labels(), "before after ");  // of the one before it is not known
  EvaluationRecord before = ExampleEvaluation({});
  before.dataset.fingerprint = "00000000000000bb";
  const std::string before_file = Run("mine") + "/report/before.evaluation.json";
  const std::string kept = ReadFile(before_file);
  WriteFileAtomically(before_file, EvaluationText(before));
  EXPECT_EQ(labels(), "after ");
  EXPECT_TRUE(Holds(PageOf(Read({"mine"})),
                    "(400 queries, 63,410 documents) and on other data under these names."));
  WriteFileAtomically(before_file, kept);
  // Positives from another grade on are another task.
  after = ExampleEvaluation({.separation = 0.3});
  after.dataset.relevance_level = 2;
  write();
  EXPECT_EQ(labels(), "after ");
  // The same queries in another order are the same, and so are those whose ids were not kept.
  after = ExampleEvaluation({.separation = 0.3});
  std::reverse(after.query_ids.begin(), after.query_ids.end());
  write();
  EXPECT_EQ(labels(), "before after ");
  after.query_ids.clear();
  for (MeasureResult& measure : after.measures) measure.per_query.clear();
  write();
  EXPECT_EQ(labels(), "before after ");
}

TEST_F(PageTest, ComparesOnlyWhatWasMeasuredOnTheSameQueriesAndDocuments) {
  EvaluationRecord record = ExampleEvaluation({});
  const auto write = [&](const std::string& name) {
    WriteFileAtomically(Run(name), EvaluationText(record));
  };
  write("a.evaluation.json");
  record = ExampleEvaluation({.separation = 0.3});
  write("b.evaluation.json");
  record.dataset.documents = 40;
  write("c.evaluation.json");
  record.query_ids[0] = "other";
  write("d.evaluation.json");
  const std::string page = PageOf(
      Read({"a.evaluation.json", "b.evaluation.json", "c.evaluation.json", "d.evaluation.json"}));
  EXPECT_THAT(Between(page, "intervals, on ", "<"),
              ElementsAre("packages, split test (400 queries, 63,410 documents)",
                          "packages, split test (400 queries, 40 documents)",
                          "packages, split test (400 queries, 40 documents), other data (2)"));
  EXPECT_EQ(Between(page, ">Difference<", "<").size(), 1);  // of a and b
  EXPECT_TRUE(Holds(page,
                    "a, b and c are not compared: they were not measured on the same queries and "
                    "documents but on packages, split test (400 queries, 63,410 documents) and "
                    "packages, split test (400 queries, 40 documents)."));
  EXPECT_TRUE(Holds(page, "a, b and d are not compared"));
  // Nothing is said of other data sets: nobody takes them for the same.
  record.dataset.name = "elsewhere";
  write("c.evaluation.json");
  EXPECT_FALSE(Holds(PageOf(Read({"a.evaluation.json", "c.evaluation.json"})), "not compared"));
}

TEST_F(PageTest, OfAHalfFinishedRunSaysWhatIsMissingAndShowsTheRest) {
  MakeFolder(Run("half"));
  WriteFileAtomically(Run("half") + "/metrics.jsonl",
                      "{\"step\":10,\"loss\":1.5}\n{\"step\":20,\"loss\":1.2}\n{\"step\":30,\"l");
  const std::string page = PageOf(Read({"half"}));
  EXPECT_THAT(FigureNames(page), ElementsAre("loss", "learning-rate"));
  for (const char* sentence :
       {"half: there is no recipe.resolved.toml", "half: there is no timing.jsonl.",
        "half: one line of metrics.jsonl cannot be read: line ", "half: the run has not finished.",
        "half: no validation", "half: no model was evaluated",
        "half: the run did not write down its memory."}) {
    EXPECT_TRUE(Holds(page, sentence));
  }
}

TEST_F(PageTest, SaysOnceThatThereIsNoEvaluation) {
  WriteExampleRun(Run("mine"), {});
  std::filesystem::remove_all(Run("mine") + "/report");
  const std::string page = PageOf(Read({"mine"}));
  const std::string list = Between(page, "What is missing</h2>", "</section>").front();
  EXPECT_EQ(Between(list, "evaluation.json", "<").size(), 1);
  EXPECT_FALSE(Holds(page, "No evaluation"));
}

TEST_F(PageTest, SaysWhichEvaluationIsBroken) {
  WriteExampleRun(Run("mine"), {});
  WriteFileAtomically(Run("mine") + "/report/before.evaluation.json", "{");
  const std::string page = PageOf(Read({"mine"}));
  EXPECT_TRUE(Holds(page, "mine: an evaluation cannot be read: "));
  EXPECT_THAT(FigureNames(page), testing::Contains("roc"));
}

TEST_F(PageTest, ReliabilityLeavesOutBinsOfFewResults) {
  EvaluationRecord record = ExampleEvaluation({});
  record.dataset.queries = 20;
  CalibrationFacts& method = record.calibration[0];
  record.calibration.resize(1);
  method.reliability = {{.count = 10, .mean_probability = 0.125, .share_positive = 0.3},
                        {.count = 10, .mean_probability = 0.25, .share_positive = 0.4},
                        {.count = 9, .mean_probability = 0.875, .share_positive = 0.7}};
  const std::string page = PageOf({"made", {}, {{"new", record}}, {}});
  EXPECT_TRUE(Holds(page, "Results of 20 queries; bins of fewer than 10 results are left out."));
  const std::string figure = Between(page, "<figure id=\"figure-reliability\"", "</figure>").at(0);
  EXPECT_THAT(figure, testing::HasSubstr("0.125"));
  EXPECT_THAT(figure, testing::Not(testing::HasSubstr("0.875")));

  method.reliability[1].count = 9;
  const std::string without = PageOf({"made", {}, {{"new", record}}, {}});
  EXPECT_TRUE(Holds(without, "no two bins have 10 results"));
  EXPECT_THAT(FigureNames(without), testing::Not(testing::Contains("reliability")));
}

TEST_F(PageTest, QueriesThatEqualTheBestAreNotTheWorst) {
  EvaluationRecord record = ExampleEvaluation({});
  const auto query = [](const std::string& id, double value) {
    return QueryCase{.id = id, .text = "text of " + id, .value = value, .results = {}};
  };
  record.cases = {.measure = "ndcg@10",
                  .best = {query("first", 1), query("second", 1)},
                  .worst = {query("low", 0.25), query("full", 1)}};
  const std::string page = PageOf({"made", {}, {{"new", record}}, {}});
  EXPECT_TRUE(Holds(page, "text of first"));
  EXPECT_TRUE(Holds(page, "text of low"));
  EXPECT_FALSE(Holds(page, "text of full"));
}

TEST_F(PageTest, EscapesEveryTextOfTheData) {
  const std::string bad = "<script>alert(1)</script>\"'&\xE2\x80\xAE";
  EvaluationRecord record = ExampleEvaluation({});
  record.model = {bad, bad, 1, bad};
  record.dataset.name = record.dataset.split = bad;
  for (MeasureResult& measure : record.measures) measure.name = bad;
  record.roc->thresholds[0].target = bad;
  record.calibration[0].method = bad;
  for (std::vector<QueryCase>* list : {&record.cases->best, &record.cases->worst}) {
    for (QueryCase& query : *list) {
      query.id = query.text = bad;
      for (QueryResult& result : query.results) result.id = result.text = bad;
    }
  }
  RunRecord run{.name = bad, .recipe = {{bad, bad}}, .recipe_text = bad, .machine = {{bad, bad}}};
  run.log.validations = {{.measures = {{.name = bad, .value = 0.5}}, .best = true}};
  run.log.steps = {{.step = 1, .loss = 1}};
  run.times = {{bad, 1}};
  run.missing = {bad};
  const ReportInput input{bad, {run}, {{bad, record}, {bad + "2", record}}, {bad}};
  const std::string page = PageOf(input);
  EXPECT_FALSE(Holds(page, "<script>alert"));
  EXPECT_FALSE(Holds(page, "\xE2\x80\xAE"));
  EXPECT_GE(Between(page, "&lt;script&gt;alert(1)", "<").size(), 40);
  // One script, the page's own.
  EXPECT_EQ(Between(page, "<script", ">").size(), 1);
}

TEST_F(PageTest, OfNothingIsStillAPage) {
  EXPECT_TRUE(Holds(PageOf({.title = "Empty"}), "No evaluation"));
}

TEST_F(PageTest, IsPutInPlaceAtOnceAndReplacesOnlyReports) {
  WriteReport({{"index.html", PageOf({.title = "First"})}, {"figures/a.tsv", "x"}}, Run("out"));
  EXPECT_EQ(ReadFile(Run("out") + "/figures/a.tsv"), "x");
  WriteReport({{"index.html", PageOf({.title = "Second"})}}, Run("out"));
  EXPECT_THAT(ReadFile(Run("out") + "/index.html"), HasSubstr("Second"));
  EXPECT_FALSE(std::filesystem::exists(Run("out") + "/figures"));
  MakeFolder(Run("mine"));
  WriteFileAtomically(Run("mine") + "/thesis.txt", "years");
  EXPECT_THROW(WriteReport({{"index.html", "x"}}, Run("mine")), UsageError);
  EXPECT_EQ(ReadFile(Run("mine") + "/thesis.txt"), "years");
}

TEST_F(PageTest, RefusesWhatIsNoRun) {
  MakeFolder(Run("model"));
  WriteFileAtomically(Run("model") + "/config.json", "{}");
  const auto error = [&](const std::vector<std::string>& names) -> std::string {
    try {
      Read(names);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(error({"model"}), HasSubstr("model: is none of what a report is made of; expected a "
                                          "run folder (with metrics.jsonl"));
  EXPECT_THAT(error({"nothing"}),
              HasSubstr("nothing: there is no such file or folder; expected a run folder"));
  EXPECT_THAT(error({"."}), HasSubstr("a model folder (with config.json"));
  WriteExampleRun(Run("mine"), {});
  EXPECT_THAT(error({"mine", "./mine"}), HasSubstr("is named twice"));
}

}  // namespace
}  // namespace tandem::report
