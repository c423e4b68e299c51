// --ignore-identical-ids of commands that rank with a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "commands/model_commands_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;

// Queries a and b are documents; a has no other document as near, and "twin" reads as c.
class IdenticalIdsModel : public ModelCommandsTest {
 protected:
  IdenticalIdsModel() {
    MakeFolder(folder_.path() / "own" / "qrels");
    Write("own/corpus.jsonl",
          "{\"_id\": \"a\", \"text\": \"alpha beta\"}\n{\"_id\": \"b\", \"text\": \"gamma\"}\n"
          "{\"_id\": \"twin\", \"text\": \"delta eta\"}\n{\"_id\": \"x\", \"text\": \"alpha\"}\n"
          "{\"_id\": \"y\", \"text\": \"zeta theta\"}\n");
    Write("own/queries.jsonl",
          "{\"_id\": \"a\", \"text\": \"alpha beta\"}\n{\"_id\": \"b\", \"text\": \"gamma\"}\n"
          "{\"_id\": \"c\", \"text\": \"delta eta\"}\n");
    Write("own/qrels/test.tsv", "query-id\tcorpus-id\tscore\na\tx\t1\nb\ty\t1\nc\ty\t1\n");
  }
  ProgramResult Run(std::vector<std::string> words, const std::vector<std::string>& more) const {
    words.insert(words.end(), {"--model", Path("model")});
    words.insert(words.end(), more.begin(), more.end());
    return RunTandem(words);
  }
  // Lines of a run as "query document".
  std::vector<std::string> Hits(const std::string& file) const {
    std::istringstream lines(ReadFile(Path(file)));
    std::vector<std::string> hits;
    std::string query, q0, document, rest;
    while (lines >> query >> q0 >> document && std::getline(lines, rest)) {
      hits.push_back(query + " " + document);
    }
    return hits;
  }
};

TEST_F(IdenticalIdsModel, EvaluateCountsAndLeavesOut) {
  const std::vector<std::string> more = {"--dataset", Path("own"), "--measures", "mrr,auc"};
  const ProgramResult plain = Run({"evaluate"}, more);
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_THAT(plain.err, HasSubstr("own id among their results: 2; where it is the query itself"));
  EXPECT_THAT(plain.err, HasSubstr("queries whose own text is also a document, under another id, "
                                   "which is ranked as all others are, mostly first: 1"));
  const ProgramResult ignoring = Run({"evaluate", "--ignore-identical-ids"}, more);
  ASSERT_EQ(ignoring.exit_code, 0) << ignoring.err;
  EXPECT_THAT(ignoring.err, HasSubstr("queries whose own id was left out of their results: 2"));
  EXPECT_NE(plain.out, ignoring.out);
  // What is left out is what the run of the same model says.
  ASSERT_EQ(Run({"search"}, {"--dataset", Path("own"), "--output", Path("all.trec")}).exit_code, 0);
  const ProgramResult by_run =
      RunTandem({"evaluate", "--run", Path("all.trec"), "--qrels", Path("own/qrels/test.tsv"),
                 "--measures", "mrr,auc", "--ignore-identical-ids"});
  EXPECT_EQ(by_run.out, ignoring.out);
  EXPECT_EQ(
      Run({"evaluate", "--ignore-identical-ids", "--thresholds", "precision=0.5"}, more).exit_code,
      2);
}

TEST_F(IdenticalIdsModel, SearchHasTheNextHitInstead) {
  const std::vector<std::string> more = {"--dataset", Path("own"), "--top-k", "2", "--output"};
  const auto search = [&](const std::string& file, std::vector<std::string> flags) {
    flags.insert(flags.begin(), "search");
    std::vector<std::string> all = more;
    all.push_back(Path(file));
    return Run(flags, all);
  };
  const ProgramResult plain = search("plain.trec", {});
  EXPECT_THAT(plain.err, HasSubstr("own id among their results: 2"));
  const ProgramResult ignoring = search("ids.trec", {"--ignore-identical-ids"});
  EXPECT_THAT(ignoring.err, HasSubstr("own id was left out of their results: 2"));
  const std::vector<std::string> all = Hits("plain.trec"), left = Hits("ids.trec");
  ASSERT_EQ(all.size(), 6U);
  ASSERT_EQ(left.size(), 6U);
  EXPECT_EQ(all[0], "a a");
  EXPECT_EQ(left[0], all[1]);
  EXPECT_EQ(all[4], left[4]);  // c has no document of its id
  EXPECT_EQ(all[5], left[5]);
  EXPECT_EQ(search("other.trec", {"--ignore-identical-ids", "--query", "alpha"}).exit_code, 2);
}

TEST_F(IdenticalIdsModel, SearchInAnIndexToo) {
  const ProgramResult built = RunTandem({"index", "build", Path("model"), Path("own/corpus.jsonl"),
                                         "--output", Path("index"), "--quiet"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const auto search = [&](const std::string& file, std::vector<std::string> flags) {
    std::vector<std::string> words = {
        "search",  Path("index"), "--queries", Path("own/queries.jsonl"),
        "--top-k", "2",           "--output",  Path(file)};
    words.insert(words.end(), flags.begin(), flags.end());
    return RunTandem(words);
  };
  const ProgramResult plain = search("plain.trec", {});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_THAT(plain.err, HasSubstr("own id among their results: 2"));
  const ProgramResult ignoring = search("ids.trec", {"--ignore-identical-ids"});
  EXPECT_THAT(ignoring.err, HasSubstr("own id was left out of their results: 2"));
  const std::vector<std::string> all = Hits("plain.trec"), left = Hits("ids.trec");
  ASSERT_EQ(left.size(), 6U);
  EXPECT_EQ(left[0], all[1]);
  EXPECT_EQ(left[4], all[4]);
  EXPECT_EQ(RunTandem({"search", Path("index"), "alpha", "--ignore-identical-ids"}).exit_code, 2);
}

}  // namespace
}  // namespace tandem
