// `tandem evaluate` of several models on several data sets, on candidates and on pools.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
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

}  // namespace
}  // namespace tandem
