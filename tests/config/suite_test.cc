#include "config/suite.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace tandem::config {
namespace {

std::string ErrorOf(const std::string& text) {
  try {
    ParseSuite(text, "s.toml");
  } catch (const RecipeError& error) {
    return error.what();
  }
  return "";
}

TEST(Suite, ReadsModelsSetsAndMeasures) {
  const LoadedSuite loaded = ParseSuite(R"(measures = ["ndcg@10", "auc"]
[[model]]
path = "models/a"
[[model]]
path = "models/b"
name = "ours"
query_prompt = "query: "
[[set]]
path = "data/x"
[[set]]
path = "data/y"
name = "why"
split = "dev"
pool = 5000
query_prompt = "ask: "
document_prompt = "passage"
[[set]]
path = "data/z"
candidates = "z.trec"
)",
                                        "s.toml");
  const Suite& suite = loaded.suite;
  EXPECT_EQ(suite.measures, (Strings{"ndcg@10", "auc"}));
  ASSERT_EQ(suite.models.size(), 2U);
  EXPECT_EQ(suite.models[0].path, "models/a");
  EXPECT_FALSE(suite.models[0].name);
  EXPECT_EQ(suite.models[1].name, "ours");
  EXPECT_EQ(suite.models[1].query_prompt, "query: ");
  ASSERT_EQ(suite.sets.size(), 3U);
  EXPECT_FALSE(suite.sets[0].split || suite.sets[0].pool || suite.sets[0].candidates);
  EXPECT_EQ(suite.sets[1].split, "dev");
  EXPECT_EQ(suite.sets[1].name, "why");
  EXPECT_EQ(suite.sets[1].pool, 5000);
  EXPECT_EQ(suite.sets[1].query_prompt, "ask: ");
  EXPECT_EQ(suite.sets[1].document_prompt, "passage");
  EXPECT_FALSE(suite.sets[0].query_prompt || suite.sets[0].document_prompt);
  EXPECT_EQ(suite.sets[2].candidates, "z.trec");
  EXPECT_STREQ(loaded.ErrorAt("set.2.split", "is none").what(), "s.toml:13:9: set.2.split is none");
  EXPECT_STREQ(loaded.ErrorAt("set.1.split", "is none").what(), "s.toml: set.1.split is none");
}

TEST(Suite, MistakesHaveTheirPlace) {
  EXPECT_EQ(ErrorOf("[[set]]\npath = \"x\"\nspilt = \"dev\"\n"),
            "s.toml:3:1: set.1.spilt is unknown; did you mean split?");
  EXPECT_EQ(ErrorOf("[[set]]\nsplit = \"dev\"\n"),
            "s.toml:1:1: set.1.path is missing (BEIR folder)");
  EXPECT_EQ(ErrorOf("[[set]]\npath = 3\n"),
            "s.toml:2:8: set.1.path must be a string, found integer 3");
  EXPECT_EQ(ErrorOf("[[set]]\npath = \"x\"\npool = 0\n"),
            "s.toml:3:8: set.1.pool must be from 1 to 4294967295 documents, found 0");
  EXPECT_EQ(ErrorOf("[[set]]\npath = \"x\"\npool = 5\ncandidates = \"r\"\n"),
            "s.toml:4:14: set.1.candidates contradicts set.1.pool; give one of them");
  EXPECT_EQ(ErrorOf("[[set]]\npath = \"x\"\ncandidates = \"r\"\nquery_prompt = \"q\"\n"),
            "s.toml:4:16: set.1.query_prompt contradicts set.1.candidates; give one of them");
  EXPECT_EQ(ErrorOf("measures = [\"map\"]\n"),
            "s.toml: set is missing: write [[set]] and a path over each data set");
  EXPECT_EQ(ErrorOf("set = \"x\"\n"),
            "s.toml:1:7: set is a list of tables: write [[set]] over each");
  EXPECT_EQ(ErrorOf("measure = [\"map\"]\n[[set]]\npath = \"x\"\n"),
            "s.toml:1:1: measure is unknown; did you mean measures?");
  EXPECT_NE(ErrorOf("[[set]\n"), "");
}

TEST(Suite, AMissingFileIsAUsageError) { EXPECT_THROW(LoadSuite("no/such.toml"), UsageError); }

}  // namespace
}  // namespace tandem::config
