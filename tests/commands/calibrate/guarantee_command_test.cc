// calibrate --guarantee, and what search and evaluate make of guarantees, as a user runs them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
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

// 60 documents; split train has 48 queries with two positives each.
class GuaranteeCommand : public ModelCommandsTest {
 protected:
  ProgramResult Guarantee(const std::vector<std::string>& more,
                          const std::string& split = "train") const {
    std::vector<std::string> arguments = {"calibrate",  Path("model"), "--dataset",
                                          Path("data"), "--split",     split};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }
  json Written() const { return json::parse(ReadFile(Path("model/tandem.json"))).at("guarantees"); }

  struct FoundDocument {
    double score;
    bool positive;
    bool judged;
  };
  // By query, best first, by `search` and the judgements.
  std::map<std::string, std::vector<FoundDocument>> Found() const {
    std::map<std::string, bool> positive;
    std::istringstream qrels(ReadFile(Path("data/qrels/train.tsv")));
    std::string query, document, grade, line;
    std::getline(qrels, line);
    while (qrels >> query >> document >> grade) positive[query + " " + document] = grade != "0";
    const std::map<std::string, bool> grades = positive;
    const ProgramResult found = Search({"--split", "train", "--top-k", "60", "--output", "-"});
    EXPECT_EQ(found.exit_code, 0) << found.err;
    std::map<std::string, std::vector<FoundDocument>> all;
    std::istringstream run(found.out);
    std::string q0, rank, score, tag;
    while (run >> query >> q0 >> document >> rank >> score >> tag) {
      all[query].push_back({static_cast<float>(std::stod(score)), positive[query + " " + document],
                            grades.count(query + " " + document) > 0});
    }
    return all;
  }
};

TEST_F(GuaranteeCommand, RecallIsWrittenWithWhatItRestsOn) {
  Write("model/tandem.json", R"({"format": 1, "colour": "blue"})");
  const ProgramResult result = Guarantee({"--guarantee", "recall=0.8"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("recall=0.8: answers keep at least 80 % of what is relevant, "
                                    "on average over queries\n"));
  EXPECT_THAT(result.out, HasSubstr("48 queries of data, split train, over its 60 documents"));
  EXPECT_THAT(result.err, HasSubstr("tandem.json: guarantees written\n"));

  // The largest score at which (48 / 49) mean loss + 1/49 <= 0.2.
  const auto found = Found();
  double threshold = -2, loss_there = 0;
  for (const auto& [query, documents] : found) {
    for (const FoundDocument& at : documents) {
      double loss = 0;
      for (const auto& [other, ranked] : found) {
        for (const FoundDocument& one : ranked)
          loss += one.positive && one.score < at.score ? 0.5 : 0;
      }
      if (at.positive && at.score > threshold && (loss + 1) / 49 <= 0.2) {
        threshold = at.score;
        loss_there = loss / 48;
      }
    }
  }
  const json written = Written();
  ASSERT_EQ(written["promises"].size(), 1U);
  const json& promise = written["promises"][0];
  EXPECT_EQ(promise["promise"], "recall=0.8");
  EXPECT_EQ(promise["threshold"], threshold);
  EXPECT_NEAR(promise["loss"].get<double>(), loss_there, 1e-12);
  EXPECT_EQ(promise["queries"], 48);
  const json& basis = written["basis"];
  EXPECT_EQ(basis["data"], "data");
  EXPECT_EQ(basis["split"], "train");
  EXPECT_EQ(basis["documents"], 60);
  EXPECT_EQ(basis["similarity"], "cosine");
  EXPECT_EQ(basis["data_fingerprint"].get<std::string>().size(), 16U);
  EXPECT_EQ(basis["date"].get<std::string>().size(), 10U);
  std::vector<double> best;
  for (const auto& [query, documents] : found) best.push_back(documents.front().score);
  std::sort(best.begin(), best.end());
  EXPECT_EQ(written["best_scores"].get<std::vector<double>>(), best);
  EXPECT_EQ(json::parse(ReadFile(Path("model/tandem.json")))["colour"], "blue");
  // A probability that is fitted later leaves them alone.
  ASSERT_EQ(Guarantee({"--quiet"}).exit_code, 0);
  EXPECT_EQ(Written(), written);
  // Other data have another fingerprint.
  const std::string before = basis["data_fingerprint"];
  ASSERT_EQ(Guarantee({"--guarantee", "recall=0.5"}, "dev").exit_code, 0);
  EXPECT_NE(Written()["basis"]["data_fingerprint"], before);
}

TEST_F(GuaranteeCommand, FiveQueriesAreTooFew) {
  std::string few = "query-id\tcorpus-id\tscore\n";
  for (int q = 0; q < 5; ++q) few += fmt::format("q{}\td{}\t1\n", q, q);
  Write("data/qrels/few.tsv", few);
  for (const auto& [promise, needed] : std::map<std::string, std::string>{
           {"recall=0.9", "at least 9 are needed"}, {"precision=0.9", "at least 29 are needed"}}) {
    const ProgramResult result = Guarantee({"--guarantee", promise}, "few");
    EXPECT_EQ(result.exit_code, 6) << promise;
    EXPECT_THAT(result.err, HasSubstr("5 queries")) << promise;
    EXPECT_THAT(result.err, HasSubstr(needed)) << promise;
    EXPECT_THAT(result.out, HasSubstr("not promised")) << promise;
  }
  const ProgramResult silence =
      Guarantee({"--guarantee", "no-answer=0.05", "--unanswerable", "held-out"}, "few");
  EXPECT_EQ(silence.exit_code, 6);
  EXPECT_THAT(silence.err, HasSubstr("at least 19 are needed"));
  EXPECT_FALSE(std::filesystem::exists(Path("model/tandem.json")));
  // They are enough for less; what can be promised is not written where another cannot.
  EXPECT_EQ(Guarantee({"--guarantee", "recall=0.8", "--guarantee", "recall=0.9"}, "few").exit_code,
            6);
  EXPECT_FALSE(std::filesystem::exists(Path("model/tandem.json")));
  EXPECT_EQ(Guarantee({"--guarantee", "recall=0.8"}, "few").exit_code, 0);
}

// A list of one document has one of a query's two positives.
TEST_F(GuaranteeCommand, AShortListIsNamedAsTheCause) {
  const ProgramResult result = Guarantee({"--guarantee", "recall=0.9", "--depth", "1"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.err, HasSubstr("which a list of 1 (--depth), the search or the corpus lacks"));
  EXPECT_THAT(result.err, HasSubstr("no number of queries would do"));
}

// Above the highest score nothing is wrong, and nothing is shown either.
TEST_F(GuaranteeCommand, WhereNothingIsRightNothingIsPromised) {
  std::string wrong = "query-id\tcorpus-id\tscore\n";
  for (int q = 0; q < 40; ++q) wrong += fmt::format("q{}\td{}\t0\nq{}\tgone\t1\n", q, q, q);
  std::string corpus = ReadFile(Path("data/corpus.jsonl"));
  corpus += "{\"_id\": \"gone\", \"text\": \"zzzz\"}\n";
  Write("data/corpus.jsonl", corpus);
  Write("data/qrels/wrong.tsv", wrong);
  const ProgramResult result = Guarantee({"--guarantee", "precision=0.9"}, "wrong");
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_THAT(result.err, HasSubstr("no threshold at which anything is shown keeps it"));
}

TEST_F(GuaranteeCommand, WhatIsAskedWronglyIsSaid) {
  const auto error = [&](const std::vector<std::string>& flags) {
    const ProgramResult result = Guarantee(flags);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(error({"--guarantee", "recall=1"}), HasSubstr("100 %"));
  EXPECT_THAT(error({"--guarantee", "recall=1.5"}), HasSubstr("above 0 and below 1"));
  EXPECT_THAT(error({"--guarantee", "fpr=0.1"}), HasSubstr("there is no promise of fpr"));
  EXPECT_THAT(error({"--guarantee", "no-answer=0.05"}), HasSubstr("--unanswerable"));
  EXPECT_THAT(error({"--guarantee", "recall=0.9", "--unanswerable", "held-out"}),
              HasSubstr("--unanswerable needs --guarantee no-answer"));
  EXPECT_THAT(error({"--guarantee", "recall=0.9", "--judged-only"}),
              HasSubstr("--judged-only needs --guarantee precision"));
  EXPECT_THAT(error({"--by", "lang"}), HasSubstr("--by needs --guarantee"));
  EXPECT_THAT(error({"--guarantee", "recall=0.9", "--by", "lang"}),
              HasSubstr("no query has the field lang"));
  EXPECT_THAT(error({"--guarantee", "recall=0.9", "--method", "platt"}), HasSubstr("--method"));
  EXPECT_THAT(error({"--guarantee", "recall=0.9", "--guarantee", "recall=0.90"}),
              HasSubstr("twice"));
  EXPECT_FALSE(std::filesystem::exists(Path("model/tandem.json")));
}

TEST_F(GuaranteeCommand, NoAnswerIsOfHeldOutDocumentsOrOfAFile) {
  const auto found = Found();
  std::vector<double> best;
  for (const auto& [query, documents] : found) {
    const auto other = std::find_if(documents.begin(), documents.end(),
                                    [](const FoundDocument& one) { return !one.positive; });
    best.push_back(other->score);
  }
  std::sort(best.begin(), best.end());
  const auto above = [](double score) {
    return static_cast<double>(
        std::nextafter(static_cast<float>(score), std::numeric_limits<float>::infinity()));
  };
  ASSERT_EQ(Guarantee({"--guarantee", "no-answer=0.1", "--unanswerable", "held-out"}).exit_code, 0);
  // ceil(0.9 * 49) = 45.
  EXPECT_EQ(Written()["promises"][0]["threshold"], above(best[44]));
  EXPECT_EQ(Written()["promises"][0]["queries"], 48);
  EXPECT_EQ(Written()["promises"][0]["unanswerable"], "held-out");
  EXPECT_NEAR(Written()["promises"][0]["loss"].get<double>(), 3.0 / 48, 1e-12);

  // The same queries as a file, with their own answers: the best scores of all.
  const ProgramResult answered =
      Guarantee({"--guarantee", "no-answer=0.1", "--unanswerable", Path("data/queries.jsonl")});
  ASSERT_EQ(answered.exit_code, 0);
  EXPECT_THAT(answered.err, HasSubstr("48 of its 64 queries are judged queries that have an"));
  EXPECT_EQ(Written()["promises"][0]["queries"], 64);
  EXPECT_EQ(Written()["promises"][0]["unanswerable"], "queries.jsonl");
  EXPECT_GE(Written()["promises"][0]["threshold"].get<double>(), above(best[44]));
}

TEST_F(GuaranteeCommand, GroupsHavePromisesOfTheirOwn) {
  std::istringstream queries(ReadFile(Path("data/queries.jsonl")));
  std::string line, changed;
  for (int q = 0; std::getline(queries, line); ++q) {
    json query = json::parse(line);
    if (q < 40) query["metadata"]["lang"] = q < 5 ? "fr" : "en";
    changed += query.dump() + "\n";
  }
  Write("data/queries.jsonl", changed);
  const ProgramResult result =
      Guarantee({"--guarantee", "recall=0.9", "--by", "lang", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("queries that lack the field, left out: 8"));
  const json printed = json::parse(result.out);
  ASSERT_EQ(printed["guarantees"].size(), 2U);
  EXPECT_EQ(printed["guarantees"][0]["group"], "en");
  EXPECT_EQ(printed["guarantees"][0]["queries"], 35);
  EXPECT_EQ(printed["guarantees"][0]["promised"], true);
  EXPECT_EQ(printed["guarantees"][1]["group"], "fr");
  EXPECT_EQ(printed["guarantees"][1]["promised"], false);
  EXPECT_EQ(printed["guarantees"][1]["threshold"], nullptr);
  EXPECT_EQ(printed["guarantees"][1]["fewest_queries"], 9);
  EXPECT_THAT(printed["guarantees"][1]["why"].get<std::string>(), HasSubstr("5 queries"));
  ASSERT_EQ(Written()["promises"].size(), 1U);
  EXPECT_EQ(Written()["promises"][0]["by"], "lang");
  EXPECT_EQ(Written()["promises"][0]["group"], "en");
}

TEST_F(GuaranteeCommand, PromisesOfGroupsAreToldApartWhereTheyAreChecked) {
  std::istringstream queries(ReadFile(Path("data/queries.jsonl")));
  std::string line, changed;
  for (int q = 0; std::getline(queries, line); ++q) {
    json query = json::parse(line);
    query["metadata"]["lang"] = q % 2 == 0 ? "fr" : "en";
    changed += query.dump() + "\n";
  }
  Write("data/queries.jsonl", changed);
  ASSERT_EQ(Guarantee({"--guarantee", "recall=0.8", "--by", "lang"}).exit_code, 0);
  const ProgramResult twice = Evaluate({"--split", "train", "--guarantee", "all", "--guarantee",
                                        "recall=0.8 for lang=en", "--format", "json"});
  ASSERT_EQ(twice.exit_code, 0) << twice.err;
  EXPECT_EQ(json::parse(twice.out)["guarantees"].size(), Written()["promises"].size());
  const ProgramResult checked = RunTandem({"evaluate", "--model", Path("model"), "--dataset",
                                           Path("data"), "--split", "train", "--guarantee", "all"});
  EXPECT_THAT(checked.out, HasSubstr("recall=0.8 for lang=en"));
  EXPECT_THAT(checked.out, HasSubstr("recall=0.8 for lang=fr"));
}

TEST_F(GuaranteeCommand, PrecisionSaysWhatItCountsAndHowManyItTests) {
  const ProgramResult all =
      Guarantee({"--guarantee", "precision=0.3@0.9", "--guarantee", "precision=0.5@0.9"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("513 thresholds"));
  EXPECT_THAT(all.out, HasSubstr("all of them together with 80 % or more"));
  EXPECT_THAT(all.out, HasSubstr("documents that nobody judged count as wrong: 95.0 %"));
  const double threshold = Written()["promises"][0]["threshold"];
  // Of judged documents alone less is wrong: three of each query are judged, one of them a
  // negative.
  const ProgramResult judged = Guarantee({"--guarantee", "precision=0.3@0.9", "--judged-only"});
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("precision is of judged documents alone"));
  EXPECT_EQ(Written()["promises"][0]["judged_only"], true);
  EXPECT_LT(Written()["promises"][0]["threshold"].get<double>(), threshold);
  // In split dev nobody judged a negative.
  const ProgramResult none =
      Guarantee({"--guarantee", "precision=0.3@0.9", "--judged-only"}, "dev");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--judged-only: no document"));
}

// What nobody judged is not counted, and yet takes ranks: the best 20 are not the best 20 judged
// documents, and recall and the share that gets nothing are of all that is shown.
TEST_F(GuaranteeCommand, DocumentsThatNobodyJudgedTakeRanks) {
  constexpr size_t kDepth = 20;
  const ProgramResult made =
      Guarantee({"--guarantee", "precision=0.3@0.8", "--guarantee", "recall=0.3", "--judged-only",
                 "--depth", fmt::format("{}", kDepth)});
  ASSERT_EQ(made.exit_code, 0) << made.err << made.out;
  const json promises = Written()["promises"];
  const auto found = Found();
  std::vector<double> missed(2), wrong(2), nothing(2);
  for (const auto& [query, documents] : found) {
    for (size_t i = 0; i < 2; ++i) {
      size_t right = 0, judged = 0, shown = 0;
      for (size_t rank = 0; rank < kDepth; ++rank) {
        const FoundDocument& one = documents[rank];
        if (one.score < promises[i]["threshold"].get<double>()) break;
        ++shown;
        judged += one.judged ? 1 : 0;
        right += one.positive ? 1 : 0;
      }
      missed[i] += (2 - static_cast<double>(right)) / 2 / 48;
      if (judged > 0) wrong[i] += static_cast<double>(judged - right) / judged / 48;
      nothing[i] += shown == 0 ? 1.0 / 48 : 0;
    }
  }
  EXPECT_NEAR(promises[0]["loss"].get<double>(), wrong[0], 1e-12);
  EXPECT_NEAR(promises[1]["loss"].get<double>(), missed[1], 1e-12);
  EXPECT_GT(missed[1], 0.1);  // ranks were taken
  const json seen = json::parse(
      Evaluate({"--split", "train", "--guarantee", "all", "--format", "json"}).out)["guarantees"];
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(promises[i]["nothing"].get<double>(), nothing[i], 1e-12) << i;
    EXPECT_NEAR(seen[i]["nothing"].get<double>(), nothing[i], 1e-12) << i;
    EXPECT_NEAR(seen[i]["loss"]["value"].get<double>(), promises[i]["loss"].get<double>(), 1e-12)
        << i;
  }
}

// A query that gets nothing has nothing wrong, so that others may have more wrong than was
// promised.
TEST_F(GuaranteeCommand, PrecisionSaysWhatTheQueriesGetThatGetSomething) {
  size_t warned = 0, silent = 0;
  for (const double level : {0.02, 0.3, 0.6, 0.8, 0.9}) {
    const ProgramResult result = Guarantee({"--guarantee", fmt::format("precision={}@0.8", level)});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const double loss = Written()["promises"][0]["loss"],
                 nothing = Written()["promises"][0]["nothing"];
    const bool more = nothing < 1 && loss / (1 - nothing) > 1 - level;
    EXPECT_EQ(result.err.find("which counts as nothing wrong") != std::string::npos, more) << level;
    EXPECT_EQ(result.err.find("kept by showing nothing at all") != std::string::npos, nothing == 1);
    ++(more ? warned : silent);
  }
  EXPECT_GT(warned, 0U);
  EXPECT_GT(silent, 0U);
}

TEST_F(GuaranteeCommand, ADryRunAndADepthAreSaid) {
  const ProgramResult dry = Guarantee({"--guarantee", "precision=0.5", "--dry-run"});
  ASSERT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_FALSE(std::filesystem::exists(Path("model/tandem.json")));
  EXPECT_THAT(dry.err, HasSubstr("not changed (--dry-run)"));
  ASSERT_EQ(Guarantee({"--guarantee", "precision=0.3@0.8", "--depth", "1"}).exit_code, 0);
  EXPECT_EQ(Written()["promises"][0]["depth"], 1);
}

}  // namespace
}  // namespace tandem
