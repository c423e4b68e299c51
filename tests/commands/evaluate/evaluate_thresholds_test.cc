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
                        "is 0.3333, at score 0.5000"));
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
