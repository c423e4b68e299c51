#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"

namespace tandem {
namespace {

using testing::HasSubstr;

// q1: d1 is grade 2, d2 grade 1. The run finds d2 at 1 and d1 at 3 (by score, not by rank column);
// q2 is judged without results; q9 has results without judgements.
class EvaluateCommand : public testing::Test {
 protected:
  EvaluateCommand() {
    Write("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq2\td1\t1\n");
    Write("run.trec", "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.9 t\nq1 Q0 d3 3 0.7 t\nq9 Q0 d1 1 1 t\n");
  }

  void Write(const std::string& name, const std::string& text) {
    WriteFileAtomically(folder_.path() / name, text);
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }

  ProgramResult Evaluate(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"evaluate", "--qrels", Path("qrels.tsv"), "--run",
                                          Path("run.trec")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }

 private:
  TemporaryFolder folder_;
};

// Runs a wrong command line and expects exit code 2 and `message`.
void ExpectWrongArguments(const std::vector<std::string>& arguments, const std::string& message) {
  const ProgramResult result = RunTandem(arguments);
  EXPECT_EQ(result.exit_code, 2) << message;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("error: " + message));
}

TEST_F(EvaluateCommand, TextTsvAndJsonSayTheSame) {
  const ProgramResult text = Evaluate({"--measures", "mrr,map,recall@2"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_EQ(text.out,
            "queries          1\nmrr         1.0000\nmap         0.8333\nrecall@2    0.5000\n");
  EXPECT_EQ(text.err,
            "queries of the run without judgements, ignored: 1\n"
            "warning: judged queries without results, left out of the means: 1\n");
  const ProgramResult tsv = Evaluate({"--measures", "map", "--per-query", "--format", "tsv"});
  EXPECT_EQ(tsv.out,
            "measure\tquery\tvalue\nmap\tq1\t0.8333333333333333\nmap\tall\t0.8333333333333333\n");
  const ProgramResult json = Evaluate({"--measures", "map", "--per-query", "--format", "json"});
  const auto parsed = nlohmann::json::parse(json.out);
  EXPECT_EQ(parsed, nlohmann::json::parse(R"({"measures": {"map": 0.8333333333333333},
                                              "per_query": {"map": {"q1": 0.8333333333333333}}})"));
  EXPECT_EQ(Evaluate({"--measures", "map", "--format", "json", "--quiet"}).out,
            "{\n  \"measures\": {\n    \"map\": 0.8333333333333333\n  }\n}\n");
}

TEST_F(EvaluateCommand, PerQueryTable) {
  EXPECT_EQ(Evaluate({"--measures", "map,mrr@1", "--per-query", "--complete"}).out,
            "queries         2\nmap        0.4167\nmrr@1      0.5000\n\n"
            "query         map       mrr@1\nq1         0.8333      1.0000\n"
            "q2         0.0000      0.0000\n");
}

TEST_F(EvaluateCommand, LevelDepthAndCompleteChangeTheNumbers) {
  const auto mrr = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--measures", "mrr", "--format", "tsv"});
    return Evaluate(flags).out.substr(std::string("measure\tquery\tvalue\nmrr\tall\t").size());
  };
  EXPECT_EQ(mrr({}), "1\n");
  EXPECT_EQ(mrr({"--relevance-level", "2"}), "0.3333333333333333\n");
  EXPECT_EQ(mrr({"--relevance-level", "2", "--max-results", "2"}), "0\n");
  EXPECT_EQ(mrr({"--complete"}), "0.5\n");
}

TEST_F(EvaluateCommand, AucSaysHowManyPositivesTheRunLacks) {
  Write("qrels.tsv", "q1\td1\t1\nq1\td2\t1\nq1\td7\t1\n");
  const ProgramResult result =
      Evaluate({"--measures", "auc,auc_per_query", "--format", "json", "--per-query", "--quiet"});
  // Positives 0.5, 0.9 and one below everything against 0.7: one win of three.
  EXPECT_EQ(nlohmann::json::parse(result.out),
            nlohmann::json::parse(
                R"({"measures": {"auc": 0.3333333333333333, "auc_per_query": 0.3333333333333333},
                    "per_query": {"auc_per_query": {"q1": 0.3333333333333333}}})"));
  EXPECT_EQ(result.err,
            "warning: auc: positives without a score, counted below every score: 1\n"
            "warning: auc: queries with fewer than 500 other documents to compare with: 1\n");
}

TEST_F(EvaluateCommand, AucOfAShallowRunAdvisesADeeperOne) {
  const std::string advice = "where the corpus has as many, give ";
  EXPECT_THAT(Evaluate({"--measures", "auc"}).err,
              HasSubstr(advice + "a deeper run, as `tandem search --top-k 1000` makes it\n"));
  EXPECT_THAT(Evaluate({"--measures", "auc", "--max-results", "2"}).err,
              HasSubstr(advice + "a larger --max-results\n"));
  EXPECT_THAT(Evaluate({"--measures", "map"}).err, testing::Not(HasSubstr(advice)));
}

TEST_F(EvaluateCommand, UnknownMeasuresAreNamedBeforeFilesAreOpened) {
  ExpectWrongArguments(
      {"evaluate", "--qrels", "none", "--run", "none", "--measures", "ndgc@10"},
      "measure ndgc@10 is unknown; did you mean ndcg@10? Known are ndcg, ndcg@k, ndcg_exp");
}

TEST_F(EvaluateCommand, FlagsThatMakeNoSenseTogether) {
  const std::string qrels = Path("qrels.tsv");
  const std::string run = Path("run.trec");
  ExpectWrongArguments({"evaluate"},
                       "nothing to evaluate: give --qrels and --run, or --model and --dataset");
  ExpectWrongArguments({"evaluate", "--qrels", qrels}, "--qrels needs --run");
  ExpectWrongArguments({"evaluate", "--run", run}, "--run needs --qrels");
  ExpectWrongArguments({"evaluate", "--model", "m"}, "--model needs --dataset");
  ExpectWrongArguments({"evaluate", "--dataset", "d"}, "--dataset needs --model");
  ExpectWrongArguments({"evaluate", "--split", "dev"}, "--split needs --model and --dataset");
  ExpectWrongArguments({"evaluate", "--qrels", qrels, "--run", run, "--split", "dev"},
                       "--qrels and --run exclude --model, --dataset and --split");
  ExpectWrongArguments({"evaluate", "--qrels", qrels, "--run", run, "--views"},
                       "--views needs --model and --dataset: a run has scores and no embeddings");
  ExpectWrongArguments({"evaluate", "--qrels", qrels, "--run", run, "--relevance-level", "0"},
                       "--relevance-level is 0; expected a number above 0");
  ExpectWrongArguments({"evaluate", "--qrels", qrels, "--run", run, "--format", "xml"},
                       "--format is xml; expected text, tsv or json");
  ExpectWrongArguments({"evaluate", "--qrels", qrels, "--run", run, "--max-results", "-1"},
                       "--max-results is -1; expected a whole number, at least 0");
}

TEST_F(EvaluateCommand, FlagsOfModelsAndSets) {
  const std::string run = Path("run.trec");
  ExpectWrongArguments({"evaluate", "--qrels", "q", "--run", run, "--pool", "5"},
                       "--qrels and --run exclude --model, --dataset and --split");
  ExpectWrongArguments({"evaluate", "--pool", "5"},
                       "--embeddings, --candidates, --pool, --no-cache");
  ExpectWrongArguments({"evaluate", "--model", "m", "--dataset", "d", "--pool", "0"},
                       "--pool is 0; expected a whole number, at least 1");
  ExpectWrongArguments(
      {"evaluate", "--model", "m", "--dataset", "d", "--candidates", run, "--pool", "5"},
      "--candidates says which documents are ranked; it excludes --pool");
  ExpectWrongArguments(
      {"evaluate", "--model", "m", "--dataset", "d", "--candidates", run, "--embeddings", "e"},
      "--candidates encodes no whole corpus that --embeddings could keep");
  ExpectWrongArguments(
      {"evaluate", "--model", "m", "--dataset", "d", "--pool", "9", "--embeddings", "e"},
      "--pool encodes no whole corpus that --embeddings could keep");
  ExpectWrongArguments(
      {"evaluate", "--model", "m", "--dataset", "d", "--dataset", "e", "--per-query"},
      "--per-query of several models or data sets needs --format tsv or json");
  ExpectWrongArguments({"evaluate", "--dataset", "d", "--dataset", "e"}, "--dataset needs --model");
  ExpectWrongArguments({"evaluate", "--suite", "none.toml"},
                       "none.toml: cannot be read: No such file or directory");
  Write("suite.toml", "[[set]]\npath = \"x\"\nspilt = \"dev\"\n");
  ExpectWrongArguments({"evaluate", "--suite", Path("suite.toml"), "--model", "m"},
                       Path("suite.toml") + ":3:1: set.1.spilt is unknown; did you mean split?");
  Write("suite.toml", "measures = [\"map\", \"ndgc@10\"]\n[[set]]\npath = \"x\"\n");
  ExpectWrongArguments({"evaluate", "--suite", Path("suite.toml"), "--model", "m"},
                       Path("suite.toml") +
                           ":1:12: measures names no measure: measure ndgc@10 is "
                           "unknown; did you mean ndcg@10?");
  Write("suite.toml", "[[set]]\npath = \"x\"\n");
  ExpectWrongArguments({"evaluate", "--suite", Path("suite.toml")},
                       "a suite needs models: give --model, or [[model]] in it");
}

// Everything is looked at before a model is loaded.
TEST_F(EvaluateCommand, MissingFoldersOfASuiteAreNamedAtOnce) {
  const ProgramResult model =
      RunTandem({"evaluate", "--model", "none", "--model", "m", "--dataset", "d"});
  EXPECT_EQ(model.exit_code, 4);
  EXPECT_THAT(model.err, HasSubstr("none: no such folder; a model folder was expected"));
  std::filesystem::create_directories(Path("m"));
  const ProgramResult set =
      RunTandem({"evaluate", "--model", Path("m"), "--dataset", Path("d"), "--dataset", Path("e")});
  EXPECT_EQ(set.exit_code, 3);
  EXPECT_THAT(set.err, HasSubstr("d: there is no such folder; expected one with corpus.jsonl"));
  std::filesystem::create_directories(Path("d/qrels"));
  Write("d/corpus.jsonl", "");
  Write("d/queries.jsonl", "");
  Write("d/qrels/dev.tsv", "q1\td1\t1\n");
  const ProgramResult split = RunTandem({"evaluate", "--model", Path("m"), "--suite", Path("")});
  EXPECT_EQ(split.exit_code, 3);
  EXPECT_THAT(split.err, HasSubstr("d: has no split test; it has dev"));
}

TEST_F(EvaluateCommand, BrokenFilesAreDataErrors) {
  Write("run.trec", "q1 Q0 d1 1 high t\n");
  const ProgramResult score = Evaluate({});
  EXPECT_EQ(score.exit_code, 3);
  EXPECT_EQ(score.err, fmt::format("error: {}:1: score \"high\" is not a finite number (id q1)\n",
                                   Path("run.trec")));
  Write("run.trec", "q9 Q0 d1 1 1 t\n");
  const ProgramResult strangers = Evaluate({});
  EXPECT_EQ(strangers.exit_code, 3);
  EXPECT_EQ(
      strangers.err,
      "error: run: none of its 1 queries (q9, ...) is among the 2 judged ones (q1, ...): do run "
      "and qrels belong together?\n");
  const ProgramResult missing =
      RunTandem({"evaluate", "--qrels", Path("none"), "--run", Path("run.trec")});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.err,
            fmt::format("error: {}: cannot be read: No such file or directory\n", Path("none")));
}

TEST_F(EvaluateCommand, BadScoresGradesAndCopiesAreNamed) {
  const std::string first = "q1 Q0 d1 1 0.5 t\n";
  for (const char* score : {"nan", "inf", "-inf", "1e999"}) {
    Write("run.trec", first + fmt::format("q1 Q0 d2 2 {} t\n", score));
    const ProgramResult result = Evaluate({});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.err, fmt::format("error: {}:2: score \"{}\" is not a finite number (id q1)\n",
                                      Path("run.trec"), score));
  }
  Write("run.trec", first + "q9 Q0 d1 1 1 t\nq1 Q0 d1 2 0.4 t\n");
  const ProgramResult twice = Evaluate({});
  EXPECT_EQ(twice.exit_code, 3);
  EXPECT_EQ(twice.err, fmt::format("error: {}:3: document d1 was given in line 1 already (id q1)\n",
                                   Path("run.trec")));
  Write("run.trec", first);
  Write("qrels.tsv", "q1\td1\t2\nq1\td2\tgood\n");
  const ProgramResult grade = Evaluate({});
  EXPECT_EQ(grade.exit_code, 3);
  EXPECT_EQ(grade.err, fmt::format("error: {}:2: grade \"good\" is not a finite number (id q1)\n",
                                   Path("qrels.tsv")));
}

TEST_F(EvaluateCommand, NamesOfIrMeasuresStandBesideOurs) {
  EXPECT_EQ(
      Evaluate({"--measures", "AP(rel=2),map,RBP(p=0.5, rel=2),f1@0.7", "--format", "tsv"}).out,
      "measure\tquery\tvalue\nmap(rel=2)\tall\t0.3333333333333333\n"
      "map\tall\t0.8333333333333333\nrbp(p=0.5,rel=2)\tall\t0.125\nf1@0.7\tall\t0.5\n");
}

TEST_F(EvaluateCommand, ScoresThatTieInSinglePrecision) {
  Write("run.trec", "q1 Q0 d1 1 1.000000001 t\nq1 Q0 d3 2 1 t\n");
  const auto mrr = [&](const char* precision) {
    return Evaluate({"--measures", "mrr", "--format", "tsv", "--score-precision", precision}).out;
  };
  EXPECT_THAT(mrr("double"), HasSubstr("all\t1\n"));
  EXPECT_THAT(mrr("single"), HasSubstr("all\t0.5\n"));
}

}  // namespace
}  // namespace tandem
