// `tandem mine --run`, and what every mining refuses.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class MineCommand : public testing::Test {
 protected:
  MineCommand() {
    MakeFolder(folder_.path() / "data" / "qrels");
    std::string corpus, run;
    for (int d = 0; d < 8; ++d) {
      corpus += fmt::format("{{\"_id\": \"d{0}\", \"text\": \"text {0}\"}}\n", d);
      run += fmt::format("q1 Q0 d{} 0 0.{} tag\n", d, 9 - d);
      run += fmt::format("q2 Q0 d{} 0 0.{} tag\n", 7 - d, 9 - d);
    }
    Write("data/corpus.jsonl", corpus);
    Write("data/queries.jsonl",
          "{\"_id\": \"q1\", \"text\": \"one\"}\n"
          "{\"_id\": \"q2\", \"text\": \"two\"}\n");
    // q1: d1 is the positive, d2 related; d3 was judged irrelevant. q2: d6 is the positive.
    Write("data/qrels/train.tsv",
          "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq1\td3\t0\nq2\td6\t2\n");
    Write("run.trec", run);
  }

  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(Path(name), text);
  }
  ProgramResult Mine(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        "mine",     "--dataset", Path("data"), "--positive-grade", "2",
        "--output", Path("out"), "--run",      Path("run.trec")};
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  }
  // Without --run, --positive-grade and --output.
  void ExpectError(std::vector<std::string> words, int exit_code,
                   const std::string& message) const {
    words.insert(words.begin(), "mine");
    const ProgramResult result = RunTandem(words);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(Path("out")));
  }

  TemporaryFolder folder_;
};

TEST_F(MineCommand, WritesQueriesWithPositivesAndMinedNegatives) {
  const ProgramResult result = Mine({"--range", "1:4", "--negatives", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // d0 of q1 and d7 of q2 have rank 0; d1 and d2, and d6, have none.
  EXPECT_EQ(ReadFile(Path("out")),
            "{\"query\": \"one\", \"pos\": [\"text 1\"], \"neg\": [\"text 3\", \"text 4\"]}\n"
            "{\"query\": \"two\", \"pos\": [\"text 6\"], \"neg\": [\"text 5\", \"text 4\"]}\n");
  EXPECT_EQ(result.out,
            "queries                     2\n"
            "negatives                   4\n"
            "mean score of negatives     0.6000\n"
            "mean score of positives     0.8000\n"
            "false negatives             about 50.0 %: of 2 judged documents at ranks 1 to 3,\n"
            "                            1 are positives\n");
  EXPECT_THAT(result.err,
              HasSubstr("1 documents that are judged irrelevant give way to mined ones\n"));
  EXPECT_THAT(result.err, HasSubstr("wrote " + Path("out") + ": queries 2, documents "));
}

TEST_F(MineCommand, WritesTheOtherFormats) {
  ASSERT_EQ(Mine({"--range", "1:4", "--negatives", "2", "--to", "beir"}).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("out/qrels/train.tsv")),
            "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq1\td3\t0\nq1\td4\t0\n"
            "q2\td6\t2\nq2\td5\t0\nq2\td4\t0\n");
  std::filesystem::remove_all(Path("out"));
  const ProgramResult columns =
      Mine({"--range", "1:4", "--negatives", "2", "--to", "sentence_transformers"});
  ASSERT_EQ(columns.exit_code, 0) << columns.err;
  EXPECT_THAT(ReadFile(Path("out")),
              HasSubstr("{\"anchor\": \"one\", \"positive\": \"text 1\", \"negative_1\": \"text "
                        "3\", \"negative_2\": \"text 4\"}\n"));
}

TEST_F(MineCommand, TheSummaryAsJson) {
  const ProgramResult result =
      Mine({"--range", "1:4", "--negatives", "2", "--format", "json", "--absolute-margin", "0"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["queries"], 2);
  EXPECT_TRUE(found.contains("left_out_by_margins"));
  EXPECT_EQ(found["judged_in_range"], 2);
  EXPECT_EQ(found["false_negative_rate"], 0.5);
}

TEST_F(MineCommand, MarginsAndShortResultsLeaveFewer) {
  const ProgramResult result =
      Mine({"--range", "0:5", "--negatives", "3", "--absolute-margin", "0.35"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // q1's positive has 0.8: candidates d0 d3 d4 d5 d6, and those up to 0.45 are d5 and d6.
  EXPECT_THAT(ReadFile(Path("out")), HasSubstr("\"neg\": [\"text 5\", \"text 6\"]"));
  EXPECT_THAT(result.out, HasSubstr("taken out by margins        7\n"));
  EXPECT_THAT(result.err, HasSubstr("2 of 2 queries have fewer than 3 negatives, 0 of them none: "
                                    "widen --range or lower the margins"));
}

TEST_F(MineCommand, TheSameSeedDrawsTheSame) {
  const std::vector<std::string> draw = {"--range", "0:5", "--negatives", "2", "--random"};
  const auto drawn = [&](const std::string& seed) {
    std::filesystem::remove(Path("out"));
    std::vector<std::string> words = draw;
    words.insert(words.end(), {"--seed", seed});
    EXPECT_EQ(Mine(words).exit_code, 0);
    return ReadFile(Path("out"));
  };
  const std::string first = drawn("1");
  EXPECT_EQ(drawn("1"), first);
  bool others = false;
  for (const char* seed : {"2", "3", "4"}) others = others || drawn(seed) != first;
  EXPECT_TRUE(others);
}

TEST_F(MineCommand, FlagsWithoutSense) {
  const std::string data = Path("data"), out = Path("out"), run = Path("run.trec");
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"--dataset", data, "--output", out};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  ExpectError(with({}), 2, "nothing ranks the documents: give --model DIR or --run FILE");
  ExpectError(with({"--model", "m", "--run", run}), 2, "--model and --run exclude each other");
  ExpectError(with({"--run", run, "--max-query-tokens", "5"}), 2,
              "the length limits and --dimensions need --model");
  ExpectError(with({"--run", run, "--range", "10"}), 2, "--range is 10; expected FIRST:END");
  ExpectError(with({"--run", run, "--range=-1:5"}), 2, "--range is -1:5; expected FIRST:END");
  ExpectError(with({"--run", run, "--range", "5:5"}), 2, "--range 5:5 is empty");
  ExpectError(with({"--run", run, "--negatives", "0"}), 2, "--negatives is 0");
  ExpectError(with({"--run", run, "--range", "0:3"}), 2,
              "--negatives 5 are more than the 3 ranks of --range 0:3");
  ExpectError(with({"--run", run, "--absolute-margin", "-1"}), 2, "--absolute-margin is -1");
  ExpectError(with({"--run", run, "--relative-margin", "2"}), 2, "--relative-margin is 2");
  ExpectError(with({"--run", run, "--memory", "much"}), 2,
              "--memory is much; expected an amount as 2GiB or 500MiB");
  ExpectError(with({"--run", run, "--to", "csv"}), 2, "--to");
}

TEST_F(MineCommand, AnOutputThatExistsStays) {
  Write("out", "mine");
  const ProgramResult result = Mine({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("exists already"));
  EXPECT_EQ(ReadFile(Path("out")), "mine");
}

TEST_F(MineCommand, RunsOfOtherDataAndShallowRuns) {
  const auto mine = [&](const char* run, std::vector<std::string> more, int exit_code,
                        const std::string& message) {
    Write("other.trec", run);
    std::vector<std::string> words = {"--dataset", Path("data"), "--output",
                                      Path("out"), "--run",      Path("other.trec")};
    words.insert(words.end(), more.begin(), more.end());
    ExpectError(words, exit_code, message);
  };
  mine("q1 Q0 x9 0 1 t\n", {}, 3, "has a document for query q1 that the corpus lacks");
  mine("x1 Q0 d1 0 1 t\n", {}, 3, "has results for none of the queries of the data set");
  mine("q1 Q0 d0 0 2 t\nq1 Q0 d1 0 1 t\n", {"--range", "5:50"}, 2,
       "--range 5:50 begins after all results");
}

TEST_F(MineCommand, DataWithNothingToMine) {
  MakeFolder(folder_.path() / "one" / "qrels");
  Write("one/corpus.jsonl",
        "{\"_id\": \"d0\", \"text\": \"a\"}\n{\"_id\": \"d1\", \"text\": \"a\"}\n");
  Write("one/queries.jsonl", "{\"_id\": \"q1\", \"text\": \"one\"}\n");
  Write("one/qrels/train.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\n");
  Write("empty.jsonl", "");
  const auto mine = [&](const std::string& data, int exit_code, const std::string& message) {
    ExpectError({"--dataset", data, "--output", Path("out"), "--run", Path("run.trec")}, exit_code,
                message);
  };
  mine(Path("one"), 3,
       "the corpus holds one text only, so that there is no other document to mine");
  mine(Path("empty.jsonl"), 3, "empty.jsonl");
  mine(Path("none"), 3, "none");
}

}  // namespace
}  // namespace tandem
