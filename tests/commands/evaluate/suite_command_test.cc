// `tandem evaluate` of several models on several data sets, on candidates and on pools.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "commands/model_commands_fixture.h"

namespace tandem {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class SuiteCommand : public ModelCommandsTest {
 protected:
  SuiteCommand() {
    WriteTinyModel(folder_.path() / "other", {.seed = 2});
    WriteTinyData(folder_.path() / "more", TinyWords(),
                  {.documents = 40, .queries = 20, .seed = 2});
    ::setenv("TANDEM_CACHE", Path("cache").c_str(), 1);
  }
  ~SuiteCommand() override { ::setenv("TANDEM_CACHE", "", 1); }

  ProgramResult Run(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"evaluate"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }
  // The flags of both models and both sets.
  std::vector<std::string> Both(const std::vector<std::string>& more) const {
    std::vector<std::string> flags = {"--model",   Path("model"), "--model",   Path("other"),
                                      "--dataset", Path("data"),  "--dataset", Path("more"),
                                      "--split",   "dev",         "--format",  "json"};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  double Single(const std::string& model, const std::string& data, const std::string& measure,
                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> flags = {"--model",    Path(model), "--dataset", Path(data),
                                      "--split",    "dev",       "--format",  "json",
                                      "--measures", measure,     "--quiet"};
    flags.insert(flags.end(), more.begin(), more.end());
    const ProgramResult result = Run(flags);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out)["measures"][measure];
  }
};

TEST_F(SuiteCommand, HoldsWhatSingleEvaluationsFindAndUsesTheCache) {
  const ProgramResult result = Run(Both({"--measures", "ndcg@10,auc"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json found = json::parse(result.out);
  for (const std::string measure : {"ndcg@10", "auc"}) {
    for (const std::string model : {"model", "other"}) {
      double sum = 0;
      for (const std::string data : {"data", "more"}) {
        const double value = found["measures"][measure]["values"][model][data];
        EXPECT_NEAR(value, Single(model, data, measure), 1e-9) << measure << model << data;
        sum += value;
      }
      EXPECT_NEAR(found["measures"][measure]["mean"][model].get<double>(), sum / 2, 1e-12);
    }
  }
  EXPECT_EQ(found["sets"][0]["corpus"], 60);
  EXPECT_EQ(found["sets"][1]["queries"], 16);
  EXPECT_THAT(result.err, HasSubstr("other on more (4 of 4)"));
  EXPECT_THAT(result.err, Not(HasSubstr("embeddings are from")));
  const ProgramResult again = Run(Both({"--measures", "ndcg@10,auc"}));
  EXPECT_EQ(again.out, result.out);
  EXPECT_THAT(again.err, HasSubstr("encode documents: 60 of 60 embeddings are from"));
  EXPECT_THAT(again.err, HasSubstr("encode documents: 40 of 40 embeddings are from"));
  const ProgramResult without = Run(Both({"--measures", "ndcg@10,auc", "--no-cache"}));
  EXPECT_THAT(without.err, Not(HasSubstr("embeddings are from")));
}

TEST_F(SuiteCommand, EmbeddingsStayInAFolderOfEachModelAndSet) {
  const std::vector<std::string> flags = Both({"--embeddings", Path("kept"), "--no-cache"});
  const ProgramResult first = Run(flags);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  for (const char* folder : {"kept/model/data", "kept/model/more", "kept/other/data"}) {
    EXPECT_TRUE(std::filesystem::exists(Path(folder) + "/source.txt")) << folder;
  }
  EXPECT_FALSE(std::filesystem::exists(Path("cache")));
  const auto written = std::filesystem::last_write_time(Path("kept/other/more/embeddings.npy"));
  EXPECT_EQ(Run(flags).out, first.out);
  EXPECT_EQ(std::filesystem::last_write_time(Path("kept/other/more/embeddings.npy")), written);
}

// Results of a run that are listed, by query, in the order of their scores.
std::map<std::string, std::vector<std::string>> ReadRun(const std::string& text) {
  std::map<std::string, std::vector<std::string>> documents;
  std::istringstream lines(text);
  std::string query, q0, document, rank, score, tag;
  while (lines >> query >> q0 >> document >> rank >> score >> tag) {
    documents[query].push_back(document);
  }
  return documents;
}

// Every third document is a candidate; q50 has none.
TEST_F(SuiteCommand, CandidatesAreTheFullRankingWithoutTheOthers) {
  ASSERT_EQ(Search({"--split", "dev", "--top-k", "60", "--output", Path("full.trec")}).exit_code,
            0);
  std::string candidates, restricted;
  for (const auto& [query, documents] : ReadRun(ReadFile(Path("full.trec")))) {
    for (size_t rank = 0; rank < documents.size(); ++rank) {
      const int number = std::stoi(documents[rank].substr(1));
      if (number % 3 != 0 || query == "q50") continue;
      candidates += fmt::format("{} Q0 {} 1 {} t\n", query, documents[rank], number);
      restricted += fmt::format("{} Q0 {} 1 {} t\n", query, documents[rank], 100 - rank);
    }
  }
  Write("candidates.trec", candidates + "q0 Q0 d1 1 1 t\n");  // q0 is not of split dev
  Write("restricted.trec", restricted);
  for (const std::string measure : {"ndcg@10", "map", "recall@10"}) {
    const ProgramResult naive =
        Run({"--qrels", Path("data/qrels/dev.tsv"), "--run", Path("restricted.trec"), "--measures",
             measure, "--complete", "--format", "json", "--quiet"});
    ASSERT_EQ(naive.exit_code, 0) << naive.err;
    const double expected = json::parse(naive.out)["measures"][measure];
    EXPECT_GT(expected, 0);
    EXPECT_DOUBLE_EQ(Single("model", "data", measure, {"--candidates", Path("candidates.trec")}),
                     expected);
  }
  const ProgramResult said = Run({"--model", Path("model"), "--dataset", Path("data"), "--split",
                                  "dev", "--candidates", Path("candidates.trec")});
  EXPECT_THAT(said.err, HasSubstr("has no candidates for 1 of 16 judged queries"));
  EXPECT_THAT(said.err, HasSubstr("candidates of 1 queries without judgements, ignored"));
  EXPECT_THAT(said.err, HasSubstr("judged queries without results, counted as 0: 1"));
  Write("candidates.trec", "q50 Q0 d1 1 1 t\nq51 Q0 gone 1 1 t\n");
  const ProgramResult gone = Run({"--model", Path("model"), "--dataset", Path("data"), "--split",
                                  "dev", "--candidates", Path("candidates.trec")});
  EXPECT_EQ(gone.exit_code, 3);
  EXPECT_THAT(gone.err, HasSubstr("candidates.trec:2: document gone is not among the 60"));
}

TEST_F(SuiteCommand, APoolIsEvaluatedAsACorpusOfItsOwn) {
  const std::vector<std::string> flags = {"--model",  Path("model"), "--dataset",  Path("data"),
                                          "--split",  "dev",         "--measures", "ndcg@10",
                                          "--format", "json",        "--pool"};
  const auto pooled = [&](const char* size, const char* seed) {
    std::vector<std::string> all = flags;
    all.insert(all.end(), {size, "--seed", seed});
    return Run(all);
  };
  const ProgramResult result = pooled("25", "1");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("evaluation on a pool of 25 of 60 documents (16 of them judged)"));
  EXPECT_EQ(pooled("25", "1").out, result.out);
  const auto value = [](const ProgramResult& from) {
    return json::parse(from.out)["measures"]["ndcg@10"].get<double>();
  };
  // Fewer documents in the way: never worse, as each smaller pool is a part of the larger.
  double last = value(pooled("60", "1"));
  EXPECT_EQ(last, Single("model", "data", "ndcg@10"));
  for (const char* size : {"40", "25", "5"}) {
    const double next = value(pooled(size, "1"));
    EXPECT_GE(next, last) << size;
    last = next;
  }
  EXPECT_GT(last, value(pooled("60", "1")));
  EXPECT_THAT(pooled("5", "1").err,
              HasSubstr("a pool of 16 of 60 documents: the judged ones alone"));
  EXPECT_THAT(pooled("61", "1").err, HasSubstr("all 60 documents: a pool of 61 has room"));
}

TEST_F(SuiteCommand, TheFileSaysSplitsPoolsAndCandidatesOfEachSet) {
  ASSERT_EQ(Search({"--split", "dev", "--top-k", "9", "--output", Path("first.trec")}).exit_code,
            0);
  Write("suite.toml", fmt::format(R"(measures = ["ndcg@10"]
[[model]]
path = "{0}/model"
[[set]]
path = "{0}/data"
split = "train"
[[set]]
path = "{0}/data"
split = "dev"
name = "again"
candidates = "{0}/first.trec"
[[set]]
path = "{0}/more"
split = "dev"
pool = 20
)",
                                  folder_.path().native()));
  const ProgramResult result = Run({"--suite", Path("suite.toml"), "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json found = json::parse(result.out);
  EXPECT_EQ(found["sets"][0]["queries"], 48);
  EXPECT_EQ(found["sets"][1]["documents"], 9);
  EXPECT_EQ(found["sets"][2]["documents"], 20);
  const json values = found["measures"]["ndcg@10"]["values"]["model"];
  EXPECT_NEAR(values["again"].get<double>(),
              Single("model", "data", "ndcg@10", {"--candidates", Path("first.trec")}), 1e-12);
  EXPECT_NEAR(values["more"].get<double>(), Single("model", "more", "ndcg@10", {"--pool", "20"}),
              1e-12);
  EXPECT_TRUE(values["data"].is_number());
  const ProgramResult text = Run({"--suite", Path("suite.toml"), "--quiet"});
  EXPECT_THAT(text.out, HasSubstr(fmt::format("again: the candidates of {}, at most 9 a query\n",
                                              Path("first.trec"))));
  EXPECT_THAT(text.out, HasSubstr("more: a pool of 20 of 40 documents\n"));
}

TEST_F(SuiteCommand, ASetMayHavePromptsOfItsOwn) {
  const auto set = [&](const std::string& name, const std::string& more) {
    return fmt::format("[[set]]\npath = \"{}\"\nsplit = \"dev\"\nname = \"{}\"\n{}", Path("data"),
                       name, more);
  };
  Write("suite.toml", set("plain", "") + set("asked", "query_prompt = \"alpha music \"\n") +
                          set("told", "document_prompt = \"beta harbor \"\n"));
  const auto values = [&](const std::vector<std::string>& more) {
    std::vector<std::string> flags = {"--suite",     Path("suite.toml"), "--model",
                                      Path("model"), "--format",         "json",
                                      "--measures",  "ndcg@10"};
    flags.insert(flags.end(), more.begin(), more.end());
    const ProgramResult result = Run(flags);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out)["measures"]["ndcg@10"]["values"]["model"];
  };
  const double plain = Single("model", "data", "ndcg@10");
  const double asked = Single("model", "data", "ndcg@10", {"--prompt", "alpha music "});
  std::filesystem::copy(Path("model"), Path("told"), std::filesystem::copy_options::recursive);
  Write("told/config_sentence_transformers.json",
        R"({"prompts": {"query": "", "document": "beta harbor "}})");
  const double told = Single("told", "data", "ndcg@10");
  ASSERT_NE(asked, plain);
  ASSERT_NE(told, plain);
  const json found = values({});
  EXPECT_NEAR(found["plain"], plain, 1e-9);
  EXPECT_NEAR(found["asked"], asked, 1e-9);
  EXPECT_NEAR(found["told"], told, 1e-9);
  // --prompt wins over the set's, also where the set has none.
  const json prompted = values({"--prompt", "alpha music "});
  EXPECT_NEAR(prompted["plain"], asked, 1e-9);
  const ProgramResult kept =
      Run({"--suite", Path("suite.toml"), "--model", Path("model"), "--embeddings", Path("kept")});
  EXPECT_EQ(kept.exit_code, 2);
  EXPECT_THAT(kept.err, HasSubstr("suite.toml:14:19: set.3.document_prompt excludes --embeddings"));
}

// Groups have the means of the values of their queries.
TEST_F(SuiteCommand, GroupsOfQueriesAreMeasuredSideBySide) {
  std::istringstream lines(ReadFile(Path("data/queries.jsonl")));
  std::string with_kinds;
  std::map<std::string, std::string> kinds;
  for (std::string line; std::getline(lines, line);) {
    json query = json::parse(line);
    const std::string id = query["_id"];
    if (id.back() != '0') kinds[id] = id.back() < '5' ? "low" : "high";
    if (kinds.contains(id)) query["metadata"] = {{"kind", kinds[id]}};
    with_kinds += query.dump() + "\n";
  }
  Write("data/queries.jsonl", with_kinds);
  const std::vector<std::string> flags = {"--model", Path("model"), "--dataset",  Path("data"),
                                          "--split", "dev",         "--measures", "ndcg@10,auc"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = flags;
    all.insert(all.end(), more.begin(), more.end());
    return Run(all);
  };
  const ProgramResult result = with({"--group-by", "kind", "--per-query", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json found = json::parse(result.out);
  std::map<std::string, std::vector<double>> want;
  for (const auto& [query, value] : found["per_query"]["ndcg@10"].items()) {
    want[kinds.contains(query) ? kinds[query] : ""].push_back(value);
  }
  ASSERT_EQ(want.size(), 3U);
  EXPECT_EQ(found["groups"]["field"], "kind");
  ASSERT_EQ(found["groups"]["values"].size(), 3U);
  for (const json& row : found["groups"]["values"]) {
    const std::vector<double>& values =
        want[row["group"].is_null() ? "" : row["group"].get<std::string>()];
    double sum = 0;
    for (const double value : values) sum += value;
    EXPECT_EQ(row["queries"], values.size());
    EXPECT_NEAR(row["mean"], sum / static_cast<double>(values.size()), 1e-12);
    EXPECT_LE(row["low"], row["mean"]);
    EXPECT_GE(row["high"], row["mean"]);
  }
  EXPECT_THAT(with({"--group-by", "kind"}).out, HasSubstr("groups of queries by kind"));
  EXPECT_THAT(with({"--group-by", "kin"}).err, HasSubstr("no query has the field kin"));
  EXPECT_EQ(with({"--group-by", "kind", "--model", Path("other")}).exit_code, 2);
  // Integers and booleans are values too, null is none, and what has parts is refused.
  std::string typed, listed;
  std::istringstream again(with_kinds);
  size_t n = 0;
  for (std::string line; std::getline(again, line); ++n) {
    json query = json::parse(line);
    query.erase("metadata");
    query["kind"] = n % 3 == 0 ? json(7) : n % 3 == 1 ? json(true) : json(nullptr);
    typed += query.dump() + "\n";
    query["kind"] = json::array({"a"});
    listed += query.dump() + "\n";
  }
  Write("data/queries.jsonl", typed);
  const ProgramResult of_types = with({"--group-by", "kind", "--format", "json"});
  ASSERT_EQ(of_types.exit_code, 0) << of_types.err;
  std::set<std::string> groups;
  const json typed_groups = json::parse(of_types.out)["groups"]["values"];
  for (const json& row : typed_groups) {
    groups.insert(row["group"].is_null() ? "" : row["group"].get<std::string>());
  }
  EXPECT_EQ(groups, (std::set<std::string>{"7", "true", ""}));
  Write("data/queries.jsonl", listed);
  const ProgramResult refused = with({"--group-by", "kind"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("queries.jsonl:1: "));
  EXPECT_THAT(refused.err, HasSubstr("\"kind\" is a list of strings; groups are told apart by a "
                                     "string, an integer, true or false"));
  const ProgramResult of_run = Run({"--run", "r", "--qrels", "q", "--group-by", "kind"});
  EXPECT_EQ(of_run.exit_code, 2);
  EXPECT_THAT(of_run.err, HasSubstr("--group-by needs --model and --dataset"));
}

}  // namespace
}  // namespace tandem
