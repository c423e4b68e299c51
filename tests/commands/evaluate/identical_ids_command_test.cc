// --ignore-identical-ids of commands on runs, and what they say without it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;
using Strings = std::vector<std::string>;

// Three queries that are documents. In run.trec each finds itself first and its answer second; q2
// is judged relevant for itself.
class IdenticalIdsCommand : public testing::Test {
 protected:
  IdenticalIdsCommand() {
    MakeFolder(folder_.path() / "data" / "qrels");
    std::string corpus, queries, run, other;
    for (int q = 0; q < 3; ++q) {
      queries += fmt::format("{{\"_id\": \"q{0}\", \"text\": \"ask {0}\"}}\n", q);
      corpus += fmt::format("{{\"_id\": \"q{0}\", \"text\": \"{1} {0}\"}}\n", q,
                            q == 0 ? "other words" : "ask");
      corpus += fmt::format("{{\"_id\": \"a{0}\", \"text\": \"answer {0}\"}}\n", q);
      run += fmt::format("q{0} Q0 q{0} 1 0.9 t\nq{0} Q0 a{0} 2 0.5 t\nq{0} Q0 a{1} 3 0.4 t\n", q,
                         (q + 1) % 3);
      other += fmt::format("q{0} Q0 a{0} 1 0.5 t\n", q);
    }
    Write("data/corpus.jsonl", corpus);
    Write("data/queries.jsonl", queries);
    Write("data/qrels/train.tsv",
          "query-id\tcorpus-id\tscore\nq0\ta0\t1\nq1\ta1\t1\nq2\ta2\t1\nq2\tq2\t1\n");
    Write("run.trec", run);
    Write("other.trec", other);
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(Path(name), text);
  }
  ProgramResult Run(Strings words, const Strings& more = {}) const {
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  }

  TemporaryFolder folder_;
};

constexpr const char* kThere =
    "queries with a document of their own id among their results: 2; where it is the "
    "query itself, --ignore-identical-ids leaves it out, as BEIR does\n";
constexpr const char* kLeftOut = "queries whose own id was left out of their results: 2\n";
constexpr const char* kRelevant =
    "warning: queries whose own id is judged relevant and stays among their results (BEIR leaves "
    "it out too): 1\n";

TEST_F(IdenticalIdsCommand, EvaluateOfARun) {
  const Strings words = {"evaluate", "--qrels",        Path("data/qrels/train.tsv"),
                         "--run",    Path("run.trec"), "--measures",
                         "mrr"};
  const ProgramResult plain = Run(words);
  EXPECT_EQ(plain.out, "queries         3\nmrr        0.6667\n");
  EXPECT_EQ(plain.err, fmt::format("warning: {}", kThere));
  const ProgramResult ignoring = Run(words, {"--ignore-identical-ids"});
  EXPECT_EQ(ignoring.out, "queries         3\nmrr        1.0000\n");
  EXPECT_EQ(ignoring.err, fmt::format("{}{}", kLeftOut, kRelevant));
  const ProgramResult none = Run({"evaluate", "--qrels", Path("data/qrels/train.tsv"), "--run",
                                  Path("other.trec"), "--measures", "mrr"});
  EXPECT_EQ(none.err, "");
  // Thresholds of a run are of what is left.
  EXPECT_EQ(Run(words, {"--ignore-identical-ids", "--thresholds", "precision=0.5"}).exit_code, 0);
}

TEST_F(IdenticalIdsCommand, CompareOfRuns) {
  const Strings words = {"compare",
                         Path("run.trec"),
                         Path("other.trec"),
                         "--qrels",
                         Path("data/qrels/train.tsv"),
                         "--measures",
                         "mrr"};
  EXPECT_EQ(Run(words).err, fmt::format("warning: {}: {}", Path("run.trec"), kThere));
  const ProgramResult ignoring = Run(words, {"--ignore-identical-ids"});
  EXPECT_EQ(ignoring.exit_code, 0);
  EXPECT_THAT(ignoring.err, HasSubstr(fmt::format("{}: {}", Path("run.trec"), kLeftOut)));
}

TEST_F(IdenticalIdsCommand, MineNeverTakesTheQuerysText) {
  const Strings words = {"mine",    "--dataset", Path("data"),  "--run", Path("run.trec"),
                         "--range", "0:3",       "--negatives", "2",     "--output"};
  const ProgramResult plain = Run(words, {Path("plain.jsonl")});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_THAT(plain.err, HasSubstr("queries whose own text is a document of the corpus, which is "
                                   "not mined: 1 of 3\n"));
  EXPECT_THAT(plain.err,
              HasSubstr("warning: queries with a document of their own id in the corpus: 1 of 3; "
                        "where it is the query itself in other words, --ignore-identical-ids "
                        "leaves it out\n"));
  const std::string mined = ReadFile(Path("plain.jsonl"));
  EXPECT_THAT(mined, HasSubstr("\"neg\": [\"other words 0\", \"answer 1\"]"));
  EXPECT_THAT(mined, HasSubstr("\"neg\": [\"answer 2\"]"));
  const ProgramResult ignoring = Run(words, {Path("ids.jsonl"), "--ignore-identical-ids"});
  ASSERT_EQ(ignoring.exit_code, 0) << ignoring.err;
  EXPECT_THAT(ignoring.err, HasSubstr("queries whose own id is left out of what is mined: 1 of 3"));
  EXPECT_THAT(ReadFile(Path("ids.jsonl")), Not(HasSubstr("other words")));
}

}  // namespace
}  // namespace tandem
