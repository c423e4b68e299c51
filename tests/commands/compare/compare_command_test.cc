// tandem compare with runs, as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "commands/compare/compare_output.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// Of five queries two of 32 ways are as far as a difference can be: p is at least 0.0625.
TEST(Verdict, SaysWhereTooFewQueriesDifferForAnythingToBeSeen) {
  eval::MeasureDifference difference{.difference = 0.03,
                                     .interval = {0.01, 0.07},
                                     .p_value = 0.0625,
                                     .holm_p = 0.0625,
                                     .permutations = 32,
                                     .exact = true};
  EXPECT_EQ(app::VerdictOf("new", difference, 0.95),
            "no difference was seen (0.0300 ± 0.0300, p = 0.0625, too few queries differ: 5)");
  difference.permutations = 64;
  EXPECT_THAT(app::VerdictOf("new", difference, 0.99), HasSubstr("too few queries differ: 6)"));
  difference.permutations = 1;
  EXPECT_THAT(app::VerdictOf("new", difference, 0.95), HasSubstr("too few queries differ: 0)"));
  difference.permutations = 64;
  EXPECT_THAT(app::VerdictOf("new", difference, 0.95), Not(HasSubstr("queries differ")));
  difference = {.holm_p = 0.5, .permutations = 20};  // random permutations
  EXPECT_THAT(app::VerdictOf("new", difference, 0.95), Not(HasSubstr("queries differ")));
}

// The example of docs/evaluation.md, "Comparing": eight queries about animals. The baseline has the
// right document first for three of them, the other run for all but one.
class CompareCommand : public testing::Test {
 protected:
  CompareCommand() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder_.path());
    const std::vector<std::string> animals = {"cat", "dog", "owl", "bee",
                                              "eel", "fox", "hen", "yak"};
    std::string corpus, queries, qrels = "query-id\tcorpus-id\tscore\n", old_run, new_run;
    for (size_t i = 0; i < animals.size(); ++i) {
      corpus += fmt::format(
          R"({{"_id": "d{}", "title": "", "text": "The {} and how it lives, in a few words"}})"
          "\n",
          i, animals[i]);
      queries += fmt::format(R"({{"_id": "q{}", "text": "where does a {} live?"}})"
                             "\n",
                             i, animals[i]);
      qrels += fmt::format("q{0}\td{0}\t1\n", i);
      const size_t other = (i + 1) % animals.size();
      old_run += Lines(i, i < 3 ? i : other, i < 3 ? other : i);
      new_run += Lines(i, i > 0 ? i : other, i > 0 ? other : i);
    }
    Write("animals/corpus.jsonl", corpus);
    Write("animals/queries.jsonl", queries);
    Write("animals/qrels/test.tsv", qrels);
    Write("old.trec", old_run);
    Write("new.trec", new_run);
  }
  ~CompareCommand() override { std::filesystem::current_path(before_); }

  static std::string Lines(size_t query, size_t first, size_t second) {
    return fmt::format("q{0} Q0 d{1} 1 2 t\nq{0} Q0 d{2} 2 1 t\n", query, first, second);
  }
  static void Write(const std::string& name, const std::string& text) {
    if (name.find('/') != std::string::npos) {
      std::filesystem::create_directories(std::filesystem::path(name).parent_path());
    }
    WriteFileAtomically(name, text);
  }
  static ProgramResult Compare(std::vector<std::string> more) {
    more.insert(more.begin(), "compare");
    return RunTandem(more);
  }

 private:
  std::filesystem::path before_;
  TemporaryFolder folder_;
};

TEST_F(CompareCommand, TextIsTheExampleOfTheDocumentation) {
  const ProgramResult result =
      Compare({"old.trec", "new.trec", "--dataset", "animals", "--measures", "mrr,auc", "--queries",
               "1", "--documents", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(ReadFile(std::filesystem::path(TANDEM_SOURCE_DIR) / "docs" / "evaluation.md"),
              HasSubstr("```\n" + result.out + "```\n"))
      << result.out;
}

// Digits of a hash say nothing to a person, names of pages do.
TEST_F(CompareCommand, ShowsTextsInPlaceOfHashesAndBothEndsOfNames) {
  const std::string query = "q0123456789abcdef",
                    page = "pages/jacobsen-syndrome-of-the-type-2.md#3";
  Write("hashed/corpus.jsonl",
        R"({"_id": "d00ff00ff00ff00ff", "title": "", "text": "The cat and how it lives"})"
        "\n{\"_id\": \"" +
            page + "\", \"title\": \"\", \"text\": \"The owl and how it lives\"}\n");
  Write("hashed/queries.jsonl",
        "{\"_id\": \"" + query + "\", \"text\": \"where does a cat live?\"}\n");
  Write("hashed/qrels/test.tsv",
        "query-id\tcorpus-id\tscore\n" + query + "\td00ff00ff00ff00ff\t1\n");
  const auto lines = [&](const std::string& first, const std::string& second) {
    return query + " Q0 " + first + " 1 2 t\n" + query + " Q0 " + second + " 2 1 t\n";
  };
  Write("worse.trec", lines(page, "d00ff00ff00ff00ff"));
  Write("better.trec", lines("d00ff00ff00ff00ff", page));
  const ProgramResult result = Compare({"worse.trec", "better.trec", "--dataset", "hashed",
                                        "--measures", "mrr", "--documents", "1"});
  EXPECT_THAT(result.out, HasSubstr("\n0.5000 -> 1.0000 where does a cat live?\n"
                                    "  - pages/jacob…rome-of-the-type-2.md#3"
                                    " | + The cat and how it lives\n"));
}

TEST_F(CompareCommand, JsonSaysTheNumbers) {
  const ProgramResult result = Compare({"old.trec", "new.trec", "--qrels", "animals/qrels/test.tsv",
                                        "--measures", "mrr,auc", "--format", "json", "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["baseline"], "old.trec");
  EXPECT_EQ(json["queries"], 8);
  const auto& recommendation = json["recommendation"];
  EXPECT_EQ(recommendation["use"], "old.trec");
  EXPECT_EQ(recommendation["measure"], "mrr");  // the first decides
  EXPECT_EQ(recommendation["seen"], false);
  // d_z is 0.6614: (2.8016 / 0.6614)^2 + 1.92 = 19.9.
  EXPECT_EQ(recommendation["queries_needed"], 20);
  EXPECT_EQ(
      recommendation["sentence"],
      "Keep old.trec: its mrr is 0.6875, that of new.trec 0.9375, on 8 queries of "
      "animals/qrels/test.tsv, and such a difference may be chance (p = 0.2188); about 20 queries "
      "would probably show a difference of this size.");
  const auto& mrr = json["systems"][0]["measures"]["mrr"];
  EXPECT_DOUBLE_EQ(mrr["baseline"], 5.5 / 8);
  EXPECT_DOUBLE_EQ(mrr["value"], 7.5 / 8);
  EXPECT_DOUBLE_EQ(mrr["difference"], 0.25);
  // Six differences of 1/2, one of them negative: 2 * (1 + 6) of 64 patterns are as far.
  EXPECT_DOUBLE_EQ(mrr["p"], 14 / 64.0);
  EXPECT_EQ(mrr["exact"], true);
  EXPECT_EQ(mrr["permutations"], 64);
  EXPECT_EQ(mrr["significant"], false);
  EXPECT_THAT(mrr["verdict"], HasSubstr("no difference was seen (0.2500 ± "));
  EXPECT_EQ(mrr["gained"].size(), 3);
  EXPECT_EQ(mrr["gained"][0]["query"], "q3");
  EXPECT_EQ(mrr["lost"],
            nlohmann::json::parse(R"([{"query": "q0", "baseline": 1.0, "value": 0.5}])"));
  const auto& auc = json["systems"][0]["measures"]["auc"];
  EXPECT_TRUE(auc["d_z"].is_null());
  EXPECT_TRUE(auc["gained"].empty());
  const ProgramResult swapped =
      Compare({"new.trec", "old.trec", "--qrels", "animals/qrels/test.tsv", "--measures", "mrr",
               "--format", "json", "--quiet"});
  const auto turned = nlohmann::json::parse(swapped.out)["systems"][0]["measures"]["mrr"];
  EXPECT_EQ(turned["difference"], -0.25);
  EXPECT_EQ(turned["p"], mrr["p"]);
  EXPECT_EQ(turned["low"].get<double>(), -mrr["high"].get<double>());
}

TEST_F(CompareCommand, ADifferenceThatIsSeenIsSaid) {
  std::string qrels, old_run, new_run;
  for (int q = 0; q < 20; ++q) {
    qrels += fmt::format("q{} 0 d1 1\n", q);
    old_run += fmt::format("q{0} Q0 d2 1 2 t\nq{0} Q0 d1 2 1 t\n", q);
    new_run += fmt::format("q{0} Q0 d1 1 2 t\nq{0} Q0 d2 2 1 t\n", q);
  }
  Write("qrels", qrels);
  Write("old", old_run);
  Write("new", new_run);
  const ProgramResult tsv =
      Compare({"old", "new", "--qrels", "qrels", "--measures", "mrr", "--format", "tsv"});
  EXPECT_EQ(tsv.out,
            "system\tmeasure\tbaseline\tvalue\tdifference\tlow\thigh\tp\tholm_p\td_z\tqueries\t"
            "permutations\texact\tresamples\tsignificant\n"
            "new\tmrr\t0.5\t1\t0.5\t0.5\t0.5\t9.99990000099999e-06\t9.99990000099999e-06\t-\t20\t"
            "100000\tfalse\t10000\ttrue\n");
  EXPECT_THAT(Compare({"old", "new", "--qrels", "qrels", "--measures", "mrr"}).out,
              HasSubstr("mrr: new is better by 0.5000 ± 0.0000, p < 0.0001\n"));
  EXPECT_THAT(Compare({"new", "old", "--qrels", "qrels", "--measures", "mrr"}).out,
              HasSubstr("mrr: old is worse by 0.5000 ± 0.0000, p < 0.0001\n"));
  EXPECT_THAT(
      Compare({"old", "new", "--qrels", "qrels", "--measures", "mrr"}).out,
      EndsWith("\n\nUse new: its mrr is 1.0000, that of old 0.5000, on 20 queries of qrels, "
               "and such a difference is hardly chance (p < 0.0001).\n"));
  EXPECT_THAT(Compare({"new", "old", "--qrels", "qrels", "--measures", "mrr"}).out,
              EndsWith("\n\nKeep new: its mrr is 1.0000, that of old 0.5000, on 20 queries of "
                       "qrels, and such a difference is hardly chance (p < 0.0001).\n"));
}

TEST_F(CompareCommand, RunsOverDifferentQueriesAreComparedOnThoseOfAll) {
  std::string run;
  for (size_t q = 2; q < 8; ++q) run += Lines(q, q, (q + 1) % 8);
  Write("few.trec", run);
  const std::vector<std::string> flags = {"old.trec", "few.trec", "--qrels",
                                          "animals/qrels/test.tsv"};
  const ProgramResult result = Compare(flags);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("baseline: old.trec (6 queries)\n"));
  EXPECT_THAT(result.err,
              HasSubstr("warning: old.trec: queries that another system lacks, left out "
                        "of the comparison: 2; 6 queries are in all\n"));
  EXPECT_THAT(result.err,
              HasSubstr("warning: few.trec: judged queries without results, left out of "
                        "the means: 2\n"));
  std::vector<std::string> complete = flags;
  complete.emplace_back("--complete");
  EXPECT_THAT(Compare(complete).out, HasSubstr("baseline: old.trec (8 queries)\n"));
}

TEST_F(CompareCommand, SeedsAndThreadsAsPromised) {
  std::string qrels, old_run, new_run;
  for (int q = 0; q < 40; ++q) {
    qrels += fmt::format("q{} 0 d1 1\n", q);
    old_run += fmt::format("q{0} Q0 d1 1 {1} t\nq{0} Q0 d2 2 {2} t\n", q, q * 7 % 11, q % 5);
    new_run += fmt::format("q{0} Q0 d1 1 {1} t\nq{0} Q0 d2 2 {2} t\n", q, q * 5 % 13, q % 3);
  }
  Write("qrels", qrels);
  Write("old", old_run);
  Write("new", new_run);
  const auto out = [&](const std::vector<std::string>& more) {
    std::vector<std::string> flags = {"old",        "new",     "--qrels",        "qrels",
                                      "--measures", "mrr,auc", "--permutations", "5000",
                                      "--format",   "json"};
    flags.insert(flags.end(), more.begin(), more.end());
    return Compare(flags).out;
  };
  const std::string first = out({"--threads", "1"});
  EXPECT_EQ(out({"--threads", "3"}), first);
  EXPECT_EQ(out({"--seed", "1"}), first);
  EXPECT_NE(out({"--seed", "2"}), first);
}

TEST_F(CompareCommand, WhatIsWrongIsSaidBeforeFilesAreOpened) {
  const auto wrong = [](const std::vector<std::string>& flags, const std::string& message) {
    const ProgramResult result = Compare(flags);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("error: " + message));
  };
  wrong({"none", "--qrels", "none"}, "compare needs two systems or more");
  wrong({"none", "other"}, "runs need judgements: give --qrels, or --dataset");
  wrong({"none", "none", "--qrels", "none"}, "none is given twice");
  wrong({"animals", "none", "--qrels", "none"}, "animals is a folder, which is a model");
  wrong({"animals", "none", "--dataset", "animals", "--qrels", "none"},
        "models are measured on --dataset and --split");
  wrong({"none", "other", "--qrels", "none", "--split", "test"}, "--split says which judgements");
  wrong({"none", "other", "--qrels", "none", "--max-document-tokens", "8"},
        "--max-document-tokens is for models, and all systems are runs");
  wrong({"none", "other", "--qrels", "none", "--measures", "ndgc@10"},
        "measure ndgc@10 is unknown");
  wrong({"none", "other", "--qrels", "none", "--confidence", "1"}, "--confidence is 1; expected");
  wrong({"none", "other", "--qrels", "none", "--permutations", "0"},
        "--permutations is 0; expected");
}

TEST_F(CompareCommand, BadRunsAreNamed) {
  const auto fails = [](const std::vector<std::string>& systems, const std::string& message) {
    std::vector<std::string> flags = systems;
    flags.insert(flags.end(), {"--qrels", "animals/qrels/test.tsv"});
    const ProgramResult result = Compare(flags);
    EXPECT_EQ(result.exit_code, 3) << message;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  Write("nan.trec", "q1 Q0 d1 1 nan t\n");
  fails({"old.trec", "nan.trec"}, "nan.trec:1: ");
  Write("strangers.trec", "q99 Q0 d1 1 1 t\n");
  fails({"old.trec", "strangers.trec"}, "strangers.trec: none of its queries is judged");
  Write("one.trec", Lines(1, 1, 2));
  Write("two.trec", Lines(2, 2, 1));
  fails({"one.trec", "two.trec"}, "no judged query is in all runs");
  Write("qrels", "q1 0 d1 high\n");
  const ProgramResult grade = Compare({"old.trec", "new.trec", "--qrels", "qrels"});
  EXPECT_EQ(grade.exit_code, 3);
  EXPECT_THAT(grade.err, HasSubstr("qrels:1: "));
}

}  // namespace
}  // namespace tandem
