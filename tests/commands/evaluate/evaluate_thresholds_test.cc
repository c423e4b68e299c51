// tandem evaluate --thresholds with a run, as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

// Nine documents of two queries. Query a has fewer results, so that the run's depth is that of b.
class EvaluateThresholds : public testing::Test {
 protected:
  EvaluateThresholds() {
    WriteFileAtomically(Path("qrels"), "a 0 p1 1\na 0 p2 1\nb 0 p3 1\n");
    WriteFileAtomically(Path("run"),
                        "a Q0 p1 1 1.0 t\na Q0 n1 2 0.9 t\na Q0 p2 3 0.5 t\na Q0 n2 4 0.4 t\n"
                        "b Q0 p3 1 0.8 t\nb Q0 n3 2 0.7 t\nb Q0 n4 3 0.6 t\nb Q0 n5 4 0.3 t\n"
                        "b Q0 n6 5 0.1 t\n");
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  ProgramResult Evaluate(const std::string& targets,
                         const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"evaluate", "--qrels",      Path("qrels"),
                                          "--run",    Path("run"),    "--measures",
                                          "map",      "--thresholds", targets};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(EvaluateThresholds, JsonHasThemBesideTheMeasures) {
  const ProgramResult result = Evaluate("precision=0.6,recall=0.66", {"--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_DOUBLE_EQ(json["measures"]["map"], (0.5 * (1 + 2 / 3.0) + 1) / 2);
  const auto& precision = json["thresholds"][0];
  EXPECT_EQ(precision["wish"], "precision=0.6");
  EXPECT_EQ(precision["met"], true);
  EXPECT_DOUBLE_EQ(precision["threshold"]["value"], 0.8);
  EXPECT_DOUBLE_EQ(precision["precision"]["value"], 2 / 3.0);
  EXPECT_DOUBLE_EQ(precision["results"]["value"], 1.5);
  EXPECT_LE(precision["precision"]["low"], 2 / 3.0);
  EXPECT_GE(precision["precision"]["high"], 2 / 3.0);
  EXPECT_DOUBLE_EQ(json["pool"]["auc"]["value"], 14 / 18.0);
  EXPECT_EQ(json["pool"]["resamples"], 2000);
  EXPECT_DOUBLE_EQ(json["unknown_from"], 0.1);
}

TEST_F(EvaluateThresholds, TextAndTsvSayTheSame) {
  const ProgramResult tsv = Evaluate("precision=0.6", {"--format", "tsv"});
  EXPECT_THAT(tsv.out, HasSubstr("measure\tquery\tvalue\nmap\tall\t"));
  EXPECT_THAT(tsv.out, HasSubstr("\nprecision=0.6:met\tall\t1\n"));
  EXPECT_THAT(tsv.out, HasSubstr("\nprecision=0.6:precision\tall\t0.6666666666666666\n"));
  EXPECT_THAT(tsv.out, HasSubstr("\nprecision=0.6:threshold:low\tall\t"));
  EXPECT_THAT(tsv.out, HasSubstr("\npool:partial_auc:high\tall\t"));
  const ProgramResult text = Evaluate("precision=0.6");
  EXPECT_THAT(text.out, HasSubstr("threshold for"));
  EXPECT_THAT(text.out, HasSubstr("precision=0.6"));
  EXPECT_THAT(text.out, HasSubstr("0.6667"));
  EXPECT_THAT(text.out, HasSubstr("pool_ap"));
}

TEST_F(EvaluateThresholds, ATargetThatCannotBeMetSaysTheBestPossibleAndExitsWith6) {
  WriteFileAtomically(Path("qrels"), "a 0 p2 1\nb 0 p3 1\n");  // the best document is none now
  const ProgramResult result = Evaluate("precision=0.9", {"--format", "json"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.err,
              HasSubstr("error: threshold precision=0.9 cannot be met: the best possible "
                        "is 0.3333, at score 0.5"));
  EXPECT_EQ(nlohmann::json::parse(result.out)["thresholds"][0]["met"], false);
  EXPECT_THAT(Evaluate("precision=0.9").out, HasSubstr("precision=0.9 (not met)"));
}

// Also where no measure takes samples.
TEST_F(EvaluateThresholds, PositivesWithoutAScoreAreSaid) {
  WriteFileAtomically(Path("qrels"), "a 0 p2 1\na 0 lost 1\nb 0 p3 1\n");
  EXPECT_THAT(Evaluate("recall=0.3").err,
              HasSubstr("auc: positives without a score, counted below every score: 1\n"));
}

TEST_F(EvaluateThresholds, WithoutOtherDocumentsThereIsNoRateOfThem) {
  WriteFileAtomically(Path("qrels"), "a 0 p1 1\n");
  WriteFileAtomically(Path("run"), "a Q0 p1 1 0.5 t\n");
  const ProgramResult result = Evaluate("recall=0.5,fpr=0.1", {"--format", "tsv"});
  EXPECT_THAT(result.out, HasSubstr("\nrecall=0.5:threshold\tall\t0.5\n"));
  EXPECT_THAT(result.out, HasSubstr("\nrecall=0.5:fpr\tall\t-\n"));
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.err, HasSubstr("error: threshold fpr=0.1 cannot be met: there are no other "
                                    "documents than positives"));
  EXPECT_THAT(Evaluate("precision=0.5").err,
              HasSubstr("error: threshold precision=0.5 cannot be met: the run ends before any "
                        "threshold is known; give a deeper run"));
}

TEST_F(EvaluateThresholds, WhereTheRunEndsNothingIsOverstated) {
  const std::vector<std::string> cut = {"--max-results", "2", "--format", "json"};
  // Both queries end at two results: at 0.9 and 0.7. Nothing at 0.9 and below is known.
  const ProgramResult result = Evaluate("precision=0.5,recall=0.6", cut);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(
      result.err,
      HasSubstr("warning: thresholds at 0.9000 and below: precision and number of results are "
                "unknown, because the results of so many queries end above: 2\n"));
  EXPECT_THAT(result.err,
              HasSubstr("warning: threshold precision=0.5: a lower one might do as well"));
  const auto thresholds = nlohmann::json::parse(result.out)["thresholds"];
  EXPECT_EQ(thresholds[0]["threshold"]["value"], 1.0);
  EXPECT_EQ(thresholds[0]["ends_at_depth"], true);
  EXPECT_TRUE(thresholds[1]["precision"]["value"].is_null());  // recall 2/3 needs 0.8
  EXPECT_DOUBLE_EQ(thresholds[1]["recall"]["value"], 2 / 3.0);
}

TEST_F(EvaluateThresholds, SaysOnWhichDataTheyWereChosen) {
  EXPECT_THAT(Evaluate("precision=0.6").out, HasSubstr("\nchosen on qrels: 2 queries;"));
  EXPECT_THAT(Evaluate("precision=0.6", {"--format", "tsv"}).out,
              HasSubstr("\nthresholds:chosen_on\tall\tqrels\n"));
  const auto json = nlohmann::json::parse(Evaluate("recall=0.5", {"--format", "json"}).out);
  EXPECT_EQ(json["chosen_on"]["data"], "qrels");
  EXPECT_EQ(json["chosen_on"]["run"], "run");
  EXPECT_EQ(json["chosen_on"]["queries"], 2);
}

// Two queries more, of which one gets nothing at 0.8.
TEST_F(EvaluateThresholds, AreMeasuredOnOtherData) {
  const ProgramResult chosen = Evaluate("precision=0.6,recall=1", {"--format", "json"});
  WriteFileAtomically(Path("chosen.json"), chosen.out);
  WriteFileAtomically(Path("other"), "c 0 p1 1\nd 0 p2 1\nd 0 p3 1\n");
  WriteFileAtomically(Path("other.run"),
                      "c Q0 n1 1 0.7 t\nc Q0 p1 2 0.4 t\nc Q0 n3 3 0.01 t\n"
                      "d Q0 p2 1 0.9 t\nd Q0 n2 2 0.8 t\nd Q0 p3 3 0.5 t\n");
  const auto apply = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "evaluate",         "--qrels",    Path("other"), "--run",
        Path("other.run"),  "--measures", "map",         "--apply-thresholds",
        Path("chosen.json")};
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  };
  const ProgramResult result = apply({"--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("are scores of run run, and nothing says whether those of run "
                                    "other.run are comparable"));
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["chosen_on"]["data"], "qrels");
  EXPECT_EQ(json["measured_on"]["data"], "other");
  const auto& precision = json["applied"][0];
  EXPECT_EQ(precision["wish"], "precision=0.6");
  EXPECT_EQ(precision["threshold"], 0.8);
  EXPECT_EQ(precision["precision"]["value"], 0.5);
  EXPECT_DOUBLE_EQ(precision["recall"]["value"], 1 / 3.0);
  EXPECT_EQ(precision["nothing"]["value"], 0.5);
  EXPECT_EQ(precision["results"]["value"], 1.0);
  EXPECT_EQ(precision["queries_with_nothing"], 1);
  EXPECT_NEAR(precision["nothing"]["low"].get<double>(), 0.0126, 1e-4);
  const auto& recall = json["applied"][1];  // 0.5: the run of d ends there
  EXPECT_TRUE(recall["precision"]["value"].is_null());
  EXPECT_DOUBLE_EQ(recall["recall"]["value"], 2 / 3.0);
  EXPECT_THAT(result.err,
              HasSubstr("threshold recall=1 (score 0.5): precision and number of results "
                        "are unknown"));
  EXPECT_THAT(apply({}).out, HasSubstr("chosen on qrels; measured on other: 2 queries\n"));
  EXPECT_THAT(apply({"--format", "tsv"}).out, HasSubstr("\nprecision=0.6:nothing\tall\t0.5\n"));
  // On the data that they were chosen on.
  const ProgramResult same = RunTandem({"evaluate", "--qrels", Path("qrels"), "--run", Path("run"),
                                        "--apply-thresholds", Path("chosen.json")});
  EXPECT_THAT(same.err, HasSubstr("were chosen on qrels, which they are measured on"));
}

TEST_F(EvaluateThresholds, OneAboveEveryScoreShowsNothingWhichIsSaid) {
  WriteFileAtomically(Path("high.json"), R"({"thresholds": [
      {"wish": "precision=0.9", "met": true, "threshold": {"value": 2}}]})");
  const ProgramResult result =
      RunTandem({"evaluate", "--qrels", Path("qrels"), "--run", Path("run"), "--format", "json",
                 "--apply-thresholds", Path("high.json")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("does not say which model and data"));
  EXPECT_THAT(result.err, HasSubstr("threshold precision=0.9 (score 2) is above every score: all 2 "
                                    "queries get nothing, and precision is undefined"));
  const auto applied = nlohmann::json::parse(result.out)["applied"][0];
  EXPECT_EQ(applied["nothing"]["value"], 1.0);
  EXPECT_TRUE(applied["precision"]["value"].is_null());
  EXPECT_EQ(applied["recall"]["value"], 0.0);
}

TEST_F(EvaluateThresholds, FilesThatHoldNoThresholdsAreNamed) {
  const auto expect = [&](const std::string& text, const std::string& message) {
    WriteFileAtomically(Path("file.json"), text);
    const ProgramResult result = RunTandem({"evaluate", "--qrels", Path("qrels"), "--run",
                                            Path("run"), "--apply-thresholds", Path("file.json")});
    EXPECT_EQ(result.exit_code, 3) << text << result.err;
    EXPECT_THAT(result.err, HasSubstr(Path("file.json") + ": ")) << text;
    EXPECT_THAT(result.err, HasSubstr(message)) << text;
    EXPECT_EQ(result.out, "") << text;
  };
  expect("", "is empty; expected what `tandem evaluate --thresholds TARGETS --format json` prints");
  expect(" \n", "is empty");
  expect("[1]", "is not a JSON object");
  expect("{\"measures\": {}}", "has no member `thresholds`");
  expect("{\"thresholds\": []}", "its list of thresholds is empty");
  const auto with = [](const std::string& value, const char* met = "true") {
    return R"({"thresholds": [{"wish": "recall=1", "met": )" + std::string(met) +
           R"(, "threshold": {"value": )" + value + "}}]}";
  };
  expect(with("NaN"), "file.json");
  expect(with("null"), "`thresholds.0.threshold.value` is null, no finite number");
  expect(with("\"0.5\""), "`thresholds.0.threshold.value` is \"0.5\", no finite number");
  expect(with("1e999"), "file.json");
  expect(with("0.5", "false"), "none of its targets was met (recall=1)");
  EXPECT_EQ(RunTandem({"evaluate", "--qrels", Path("qrels"), "--run", Path("run"),
                       "--apply-thresholds", Path("none.json")})
                .exit_code,
            3);
  const ProgramResult both =
      RunTandem({"evaluate", "--qrels", Path("qrels"), "--run", Path("run"), "--thresholds",
                 "recall=0.5", "--apply-thresholds", Path("file.json")});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("give one of them"));
}

TEST_F(EvaluateThresholds, TargetsAreCheckedBeforeFilesAreOpened) {
  const auto wrong = [](const std::string& targets, const std::string& message) {
    const ProgramResult result =
        RunTandem({"evaluate", "--qrels", "none", "--run", "none", "--thresholds", targets});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("error: " + message));
  };
  wrong("precison=0.9", "threshold precison=0.9 is unknown; did you mean precision?");
  const ProgramResult several = RunTandem(
      {"evaluate", "--model", "a", "--model", "b", "--dataset", "c", "--thresholds", "recall=0.5"});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.err, HasSubstr("error: --thresholds is for one run, or for one model"));
  wrong("recall=2", "threshold recall=2: the value is 2; expected a number above 0, at most 1");
}

}  // namespace
}  // namespace tandem
