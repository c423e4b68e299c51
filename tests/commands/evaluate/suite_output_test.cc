// What several models on several data sets look like.
#include "commands/evaluate/suite_output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "commands/evaluate/evaluate_command.h"
#include "support/temporary_folder.h"

namespace tandem::app {
namespace {

// Of two queries with these values, and an AUC of both.
ModelEvaluation Found(double first, double second, std::optional<double> auc) {
  ModelEvaluation found{.documents = 40, .corpus = 100};
  found.evaluation.queries = {"q1", "q2"};
  found.evaluation.measures = {
      {eval::ParseMeasure("ndcg@10"), (first + second) / 2, {first, second}},
      {eval::ParseMeasure("auc"), auc, {}}};
  return found;
}

SuiteResults Results() {
  SuiteResults results;
  results.plan = {.models = {{"small", {.model = "models/small"}}, {"large", {.model = "l"}}},
                  .sets = {{"x", "data/x", "test", "", 40}, {"y", "data/y", "dev", "y.trec"}}};
  results.of = {{Found(0.25, 0.75, 0.5), Found(0.5, 1, 0.75)},
                {Found(0.5, 0.5, 0.25), Found(0.25, 0.75, std::nullopt)}};
  return results;
}

TEST(SuiteOutput, JsonHasModelsSetsMeasuresAndQueries) {
  const auto plain = nlohmann::json::parse(FormatSuite(Results(), "json", false));
  EXPECT_EQ(plain, nlohmann::json::parse(R"({
    "models": [{"name": "small", "path": "models/small"}, {"name": "large", "path": "l"}],
    "sets": [{"name": "x", "path": "data/x", "split": "test", "queries": 2, "documents": 40,
              "corpus": 100},
             {"name": "y", "path": "data/y", "split": "dev", "queries": 2, "documents": 40,
              "corpus": 100, "candidates": "y.trec"}],
    "measures": {
      "ndcg@10": {"values": {"small": {"x": 0.5, "y": 0.5}, "large": {"x": 0.75, "y": 0.5}},
                  "mean": {"small": 0.5, "large": 0.625},
                  "average_rank": {"small": 1.75, "large": 1.25}},
      "auc": {"values": {"small": {"x": 0.5, "y": 0.25}, "large": {"x": 0.75, "y": null}},
              "mean": {"small": 0.375, "large": null},
              "average_rank": {"small": 1.5, "large": null}}}})"));
  const auto per_query = nlohmann::json::parse(FormatSuite(Results(), "json", true));
  EXPECT_EQ(per_query["per_query"], nlohmann::json::parse(R"({
    "ndcg@10": {"small": {"x": {"q1": 0.25, "q2": 0.75}, "y": {"q1": 0.5, "q2": 0.5}},
                "large": {"x": {"q1": 0.5, "q2": 1.0}, "y": {"q1": 0.25, "q2": 0.75}}}})"));
}

TEST(SuiteOutput, TsvHasALineForEachValue) {
  EXPECT_EQ(FormatSuite(Results(), "tsv", false),
            "measure\tmodel\tset\tquery\tvalue\n"
            "ndcg@10\tsmall\tx\tall\t0.5\nndcg@10\tsmall\ty\tall\t0.5\n"
            "ndcg@10\tsmall\tall\tall\t0.5\nndcg@10\tsmall\tall\trank\t1.75\n"
            "ndcg@10\tlarge\tx\tall\t0.75\nndcg@10\tlarge\ty\tall\t0.5\n"
            "ndcg@10\tlarge\tall\tall\t0.625\nndcg@10\tlarge\tall\trank\t1.25\n"
            "auc\tsmall\tx\tall\t0.5\nauc\tsmall\ty\tall\t0.25\n"
            "auc\tsmall\tall\tall\t0.375\nauc\tsmall\tall\trank\t1.5\n"
            "auc\tlarge\tx\tall\t0.75\nauc\tlarge\ty\tall\t-\n"
            "auc\tlarge\tall\tall\t-\nauc\tlarge\tall\trank\t-\n");
  const std::string per_query = FormatSuite(Results(), "tsv", true);
  EXPECT_NE(per_query.find("ndcg@10\tsmall\tx\tq1\t0.25\nndcg@10\tsmall\tx\tq2\t0.75\n"
                           "ndcg@10\tsmall\tx\tall\t0.5\n"),
            std::string::npos);
}

// The best of each row is bold, the lowest rank too; nothing is said of a single model or set.
TEST(SuiteOutput, TextIsABlockForEachMeasure) {
  SuiteResults results = Results();
  EXPECT_EQ(FormatSuite(results, "text", false),
            "ndcg@10        small   large\n"
            "x             0.5000  0.7500\n"
            "y             0.5000  0.5000\n"
            "mean          0.5000  0.6250\n"
            "average rank  1.7500  1.2500\n"
            "\n"
            "auc            small   large\n"
            "x             0.5000  0.7500\n"
            "y             0.2500       -\n"
            "mean          0.3750       -\n"
            "average rank  1.5000       -\n"
            "\n"
            "x: a pool of 40 of 100 documents\n"
            "y: the candidates of y.trec, at most 40 a query\n");
  const std::string bold = FormatSuite(results, "text", false, {.bold = true});
  EXPECT_NE(bold.find("\x1b[1m0.7500\x1b["), std::string::npos) << bold;
  EXPECT_NE(bold.find("\x1b[1m1.2500\x1b["), std::string::npos) << bold;
  EXPECT_EQ(bold.find("\x1b[1m1.7500"), std::string::npos) << bold;
  results.plan.models.pop_back();
  results.plan.sets.pop_back();
  results.of = {{results.of[0][0]}};
  EXPECT_EQ(FormatSuite(results, "text", false, {.bold = true}),
            "ndcg@10   small\nx        0.5000\n\nauc   small\nx    0.5000\n\n"
            "x: a pool of 40 of 100 documents\n");
}

TEST(NamesOfPaths, AreTheShortestEndsThatTellThemApart) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(NamesOfPaths({"models/a", "models/b/"}, "model"), (Names{"a", "b"}));
  EXPECT_EQ(NamesOfPaths({"runs/1/model", "runs/2/model", "base"}, "model"),
            (Names{"1/model", "2/model", "base"}));
  EXPECT_EQ(NamesOfPaths({"/a/x/model", "/b/x/model", "/b/y/model"}, "model"),
            (Names{"a/x/model", "b/x/model", "y/model"}));
  EXPECT_EQ(NamesOfPaths({"/model", "/b/model"}, "model"), (Names{"model", "b/model"}));
  EXPECT_THROW(NamesOfPaths({"models/a", "models/b/../a/"}, "model"), UsageError);
}

class PlanEvaluationTest : public testing::Test {
 protected:
  PlanEvaluationTest() {
    for (const char* set : {"beir/x", "beir/y"}) {
      Write(std::string(set) + "/corpus.jsonl", "{\"_id\": \"d\", \"text\": \"t\"}\n");
      Write(std::string(set) + "/queries.jsonl", "{\"_id\": \"q\", \"text\": \"t\"}\n");
      for (const char* split : {"test", "dev"}) {
        Write(std::string(set) + "/qrels/" + split + ".tsv", "q\td\t1\n");
      }
    }
    std::filesystem::create_directories(Path("beir/notes"));
    for (const char* model : {"a", "b"}) std::filesystem::create_directories(Path(model));
  }
  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    WriteFileAtomically(Path(name), text);
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }

  TemporaryFolder folder_;
};

TEST_F(PlanEvaluationTest, AFolderOfFoldersIsASuite) {
  EvaluateOptions options;
  options.models = {Path("a")};
  options.suite = Path("beir");
  options.pool = 7;
  const EvaluationPlan plan = PlanEvaluation(options);
  ASSERT_EQ(plan.models.size(), 1U);
  EXPECT_EQ(plan.models[0].name, "a");
  ASSERT_EQ(plan.sets.size(), 2U);
  EXPECT_EQ(plan.sets[0].name, "x");
  EXPECT_EQ(plan.sets[1].folder, Path("beir/y"));
  EXPECT_EQ(plan.sets[1].split, "test");
  EXPECT_EQ(plan.sets[1].pool, 7U);
  EXPECT_EQ(plan.measures, "ndcg@10");
  options.suite = Path("beir/notes");
  EXPECT_THROW(PlanEvaluation(options), DataError);
}

TEST_F(PlanEvaluationTest, FlagsWinOverTheFile) {
  Write("r.trec", "q Q0 d 1 1 t\n");
  Write("suite.toml", "measures = [\"map\"]\n[[model]]\npath = \"" + Path("b") +
                          "\"\nname = \"bee\"\n" + "query_prompt = \"ask: \"\n[[set]]\npath = \"" +
                          Path("beir/x") + "\"\nsplit = \"dev\"\npool = 3\n[[set]]\npath = \"" +
                          Path("beir/y") + "\"\nname = \"why\"\ncandidates = \"" + Path("r.trec") +
                          "\"\n");
  EvaluateOptions options;
  options.suite = Path("suite.toml");
  const EvaluationPlan plan = PlanEvaluation(options);
  EXPECT_EQ(plan.measures, "map");
  ASSERT_EQ(plan.models.size(), 1U);
  EXPECT_EQ(plan.models[0].name, "bee");
  EXPECT_EQ(plan.models[0].flags.prompt, "ask: ");
  ASSERT_EQ(plan.sets.size(), 2U);
  EXPECT_EQ(plan.sets[0].split, "dev");
  EXPECT_EQ(plan.sets[0].pool, 3U);
  EXPECT_EQ(plan.sets[1].name, "why");
  EXPECT_EQ(plan.sets[1].candidates, Path("r.trec"));
  options.models = {Path("a")};
  options.split = "test";
  options.pool = 5;
  options.measures = "mrr@10";
  const EvaluationPlan flagged = PlanEvaluation(options);
  EXPECT_EQ(flagged.measures, "mrr@10");
  EXPECT_EQ(flagged.models.front().name, "a");
  EXPECT_EQ(flagged.models.size(), 2U);
  EXPECT_EQ(flagged.sets[0].split, "test");
  EXPECT_EQ(flagged.sets[0].pool, 5U);
  EXPECT_EQ(flagged.sets[1].pool, 0U);  // the candidates say what is ranked
}

TEST_F(PlanEvaluationTest, SplitsOfAFolderAreSetsOfTheirOwn) {
  Write("suite.toml", "[[set]]\npath = \"" + Path("beir/x") + "\"\n[[set]]\npath = \"" +
                          Path("beir/x") + "\"\nsplit = \"dev\"\n");
  EvaluateOptions options;
  options.models = {Path("a")};
  options.suite = Path("suite.toml");
  const EvaluationPlan plan = PlanEvaluation(options);
  EXPECT_EQ(plan.sets[0].name, "x/test");
  EXPECT_EQ(plan.sets[1].name, "x/dev");
  options.datasets = {Path("beir/x")};
  EXPECT_THROW(PlanEvaluation(options), UsageError);  // x/test is there twice
}

}  // namespace
}  // namespace tandem::app
