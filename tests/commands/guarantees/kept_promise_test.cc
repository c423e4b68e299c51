// search --keep and evaluate --guarantee on a model with guarantees, as a user runs them.
#include <fmt/format.h>
#include <gmock/gmock.h>

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

class KeptPromise : public ModelCommandsTest {
 protected:
  KeptPromise() {
    const ProgramResult made =
        RunTandem({"calibrate", Path("model"), "--dataset", Path("data"), "--split", "train",
                   "--quiet", "--guarantee", "recall=0.8", "--guarantee", "precision=0.3@0.8",
                   "--guarantee", "no-answer=0.1", "--unanswerable", "held-out"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }
  json TandemJson() const { return json::parse(ReadFile(Path("model/tandem.json"))); }
  json Promise(size_t i) const { return TandemJson()["guarantees"]["promises"][i]; }
  // Changes the file as `change` says.
  template <typename Change>
  void Alter(const Change& change) const {
    json file = TandemJson();
    change(file["guarantees"]);
    Write("model/tandem.json", file.dump());
  }
  std::string BuildIndex(const std::string& documents) const {
    const ProgramResult built = RunTandem({"index", "build", Path("model"), documents, "--output",
                                           Path("idx"), "--replace", "--quiet"});
    EXPECT_EQ(built.exit_code, 0) << built.err;
    return Path("idx");
  }
};

// Of every query of the calibration just what reaches the threshold; its recall is what was
// written.
TEST_F(KeptPromise, ASearchOfADataSetShowsWhatIsPromised) {
  const ProgramResult found = Search({"--split", "train", "--keep", "recall=0.8", "--output", "-"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const ProgramResult all = Search({"--split", "train", "--top-k", "60", "--output", "-"});
  std::set<std::string> positives;
  std::istringstream qrels(ReadFile(Path("data/qrels/train.tsv")));
  std::string query, document, grade, line;
  std::getline(qrels, line);
  while (qrels >> query >> document >> grade) {
    if (grade != "0") positives.insert(query + " " + document);
  }
  const double threshold = Promise(0)["threshold"];
  size_t kept = 0, right = 0, expected = 0;
  std::string q0, rank, score, tag;
  std::istringstream run(found.out), everything(all.out);
  while (run >> query >> q0 >> document >> rank >> score >> tag) {
    ++kept;
    EXPECT_GE(std::stof(score), static_cast<float>(threshold));  // the text is that of a float
    right += positives.count(query + " " + document);
  }
  while (everything >> query >> q0 >> document >> rank >> score >> tag) {
    expected += std::stof(score) >= static_cast<float>(threshold) ? 1 : 0;
  }
  EXPECT_EQ(kept, expected);
  EXPECT_NEAR(1 - static_cast<double>(right) / 96, Promise(0)["loss"].get<double>(), 1e-12);
}

TEST_F(KeptPromise, ASearchOfAnIndexShowsWhatIsPromised) {
  const std::string index = BuildIndex(Path("data/corpus.jsonl"));
  const auto search = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"search", index, "one two 3", "--format", "json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return RunTandem(arguments);
  };
  const ProgramResult kept = search({"--keep", "precision=0.3"});
  ASSERT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_EQ(kept.err.find("promised"), std::string::npos) << kept.err;
  const std::string threshold = fmt::format("{}", Promise(1)["threshold"].get<double>());
  EXPECT_EQ(kept.out, search({"--min-score", threshold, "--top-k", "60"}).out);
  EXPECT_EQ(search({"--keep", "precision=0.3@0.8"}).out, kept.out);
  EXPECT_THAT(kept.err, HasSubstr("precision=0.3@0.8 is taken for precision=0.3"));
  // Two hits are not all that the promise is of.
  EXPECT_THAT(search({"--keep", "recall=0.8", "--top-k", "2"}).err,
              HasSubstr("1 queries had as many as are shown, 2"));
  EXPECT_THAT(search({"--keep", "recall=0.9"}).err,
              HasSubstr("the model promises recall=0.8, precision=0.3@0.8, no-answer=0.1"));
  EXPECT_EQ(search({"--keep", "recall=0.9"}).exit_code, 2);
  EXPECT_EQ(search({"--keep", "recall=0.8", "--min-score", "0.5"}).exit_code, 2);
  EXPECT_EQ(search({"--keep", "recall=0.8", "--by-document"}).exit_code, 2);
  EXPECT_THAT(search({"--keep", "recall=1"}).err, HasSubstr("100 %"));

  // Other documents, another precision, another model.
  Write("few.jsonl", R"({"_id": "d0", "text": "one two"})"
                     "\n");
  BuildIndex(Path("few.jsonl"));
  EXPECT_THAT(search({"--keep", "recall=0.8"}).err,
              HasSubstr("a corpus of 60 documents, and this one has 1"));
  Alter([](json& guarantees) { guarantees["basis"]["max_query_tokens"] = 7; });
  EXPECT_THAT(search({"--keep", "recall=0.8"}).err, HasSubstr("tokens of a query '7'"));
  Alter([](json& guarantees) { guarantees["basis"]["model_fingerprint"] = "0"; });
  EXPECT_EQ(search({"--keep", "recall=0.8"}).exit_code, 2);
  EXPECT_THAT(search({"--keep", "recall=0.8"}).err, HasSubstr("make them anew"));
  std::filesystem::remove(Path("model/tandem.json"));
  EXPECT_THAT(search({"--keep", "recall=0.8"}).err, HasSubstr("has no guarantees"));
}

// The scores of an int8 index are those of its vectors, so that a promise of a depth is one of it.
TEST_F(KeptPromise, ADepthIsTheNumberOfHits) {
  ASSERT_EQ(RunTandem({"calibrate", Path("model"), "--dataset", Path("data"), "--split", "train",
                       "--quiet", "--guarantee", "precision=0.02@0.8", "--depth", "3"})
                .exit_code,
            0);
  const ProgramResult three =
      Search({"--query", "one two 3", "--keep", "precision=0.02", "--format", "json"});
  ASSERT_EQ(three.exit_code, 0) << three.err;
  EXPECT_EQ(json::parse(three.out)[0]["hits"].size(), 3U);
  EXPECT_EQ(three.err.find("promised"), std::string::npos) << three.err;
  EXPECT_THAT(Search({"--query", "one", "--keep", "precision=0.02", "--top-k", "5"}).err,
              HasSubstr("of the best 3 documents of a query, and up to 5"));
}

TEST_F(KeptPromise, EvaluateChecksIt) {
  const ProgramResult same =
      Evaluate({"--split", "train", "--guarantee", "all", "--format", "json"});
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.err, HasSubstr("what is seen is too good"));
  const json seen = json::parse(same.out)["guarantees"];
  ASSERT_EQ(seen.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(seen[i]["promise"], Promise(i)["promise"]);
    EXPECT_NEAR(seen[i]["loss"]["value"].get<double>(), Promise(i)["loss"].get<double>(), 1e-12);
    EXPECT_NEAR(seen[i]["nothing"].get<double>(), Promise(i)["nothing"].get<double>(), 1e-12);
    EXPECT_EQ(seen[i]["queries"], 48);
    EXPECT_EQ(seen[i]["verdict"], "kept");
    EXPECT_LE(seen[i]["loss"]["low"], seen[i]["loss"]["value"]);
    EXPECT_GE(seen[i]["loss"]["high"], seen[i]["loss"]["value"]);
  }
  const ProgramResult other = Evaluate({"--split", "dev", "--guarantee", "recall=0.8"});
  EXPECT_EQ(other.err.find("too good"), std::string::npos);
  EXPECT_THAT(other.out, HasSubstr("measured on data, split dev"));
  EXPECT_THAT(Evaluate({"--split", "train", "--guarantee", "recall=0.8", "--format", "tsv"}).out,
              HasSubstr("\nguarantee:recall=0.8:promised\tall\t0.2\n"));

  // A threshold that nothing reaches keeps no recall.
  Alter([](json& guarantees) { guarantees["promises"][0]["threshold"] = 2; });
  const ProgramResult broken = Evaluate({"--split", "train", "--guarantee", "recall=0.8"});
  EXPECT_EQ(broken.exit_code, 6);
  EXPECT_THAT(broken.out, HasSubstr("broken"));
  EXPECT_THAT(broken.err, HasSubstr("guarantee recall=0.8 is broken on data, split train: the loss "
                                    "is 1.0000 over 48 queries, and 0.2000 was promised"));
}

TEST_F(KeptPromise, EvaluateSaysWhatItCannotCheck) {
  const auto error = [&](const std::vector<std::string>& flags) {
    const ProgramResult result = Evaluate(flags);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(error({"--split", "train", "--guarantee", "recall=0.5"}),
              HasSubstr("that is not promised"));
  EXPECT_THAT(error({"--guarantee", "all", "--pool", "50"}), HasSubstr("it excludes --pool"));
  EXPECT_THAT(error({"--unanswerable", "held-out"}), HasSubstr("needs --guarantee"));
  Alter([](json& guarantees) { guarantees["promises"][2]["unanswerable"] = "none.jsonl"; });
  EXPECT_THAT(error({"--split", "train", "--guarantee", "no-answer=0.1"}),
              HasSubstr("was made with the queries of none.jsonl"));
  EXPECT_EQ(
      Evaluate({"--split", "train", "--guarantee", "no-answer=0.1", "--unanswerable", "held-out"})
          .exit_code,
      0);
  EXPECT_EQ(RunTandem({"evaluate", "--run", "a", "--qrels", "b", "--guarantee", "all"}).exit_code,
            2);
}

// A promise of grade 2 is checked with grade 2.
TEST_F(KeptPromise, EvaluateTakesTheRelevanceLevelOfThePromise) {
  ASSERT_EQ(RunTandem({"calibrate", Path("model"), "--dataset", Path("data"), "--split", "train",
                       "--quiet", "--guarantee", "recall=0.8,precision=0.02@0.8",
                       "--relevance-level", "2"})
                .exit_code,
            0);
  const auto check = [&](const std::vector<std::string>& more) {
    std::vector<std::string> flags = {"--split", "train", "--guarantee", "all", "--format", "json"};
    flags.insert(flags.end(), more.begin(), more.end());
    return Evaluate(flags);
  };
  const ProgramResult seen = check({});
  ASSERT_EQ(seen.exit_code, 0) << seen.err;
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(json::parse(seen.out)["guarantees"][i]["loss"]["value"].get<double>(),
                Promise(i)["loss"].get<double>(), 1e-12);
  }
  EXPECT_EQ(check({"--relevance-level", "2"}).out, seen.out);
  const ProgramResult other = check({"--relevance-level", "1"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("--relevance-level is 1, and the guarantees of"));
  EXPECT_THAT(other.err, HasSubstr("were made with 2: leave it out"));
}

TEST_F(KeptPromise, EvaluateSaysHowOftenChanceBreaksOne) {
  EXPECT_THAT(Evaluate({"--split", "train", "--guarantee", "all"}).out,
              HasSubstr("promises checked: 3; if all are kept, one or more is called broken by "
                        "chance in at most 7.5 % of such checks\n"));
  EXPECT_THAT(Evaluate({"--split", "train", "--guarantee", "recall=0.8"}).out,
              HasSubstr("promises checked: 1; if all are kept, one or more is called broken by "
                        "chance in at most 2.5 %"));
}

// Of what an index misses nothing is promised, unless the promise is to stay silent.
TEST_F(KeptPromise, AnApproximateIndexIsWarnedOf) {
  const auto search = [&](const std::string& keep) {
    const ProgramResult found = RunTandem({"search", Path("idx"), "one", "--keep", keep});
    EXPECT_EQ(found.exit_code, 0) << found.err;
    return found.err;
  };
  const auto build = [&](const std::string& kind, const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "index",    "build",     Path("model"), Path("data/corpus.jsonl"),
        "--output", Path("idx"), "--replace",   "--quiet",
        "--kind",   kind};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult built = RunTandem(words);
    EXPECT_EQ(built.exit_code, 0) << built.err;
  };
  build("hnsw", {});
  for (const char* keep : {"recall=0.8", "precision=0.3"}) {
    EXPECT_THAT(search(keep), HasSubstr("is approximate (hnsw, which found "));
    EXPECT_THAT(search(keep), HasSubstr(" of the best 10 when it was built) and may miss "));
  }
  EXPECT_EQ(search("no-answer=0.1").find("approximate"), std::string::npos);
  build("fp32", {});
  EXPECT_EQ(search("recall=0.8").find("approximate"), std::string::npos);
  // The documents were encoded otherwise than the judged queries' were.
  EXPECT_EQ(search("recall=0.8").find("precision of"), std::string::npos);
  build("fp32", {"--precision", "int8"});
  EXPECT_THAT(search("recall=0.8"), HasSubstr("precision of documents 'fp32', now 'int8'"));
  EXPECT_EQ(search("recall=0.8").find("precision of queries"), std::string::npos);
}

// An @ in the name of a group is no confidence.
TEST_F(KeptPromise, AGroupMayHaveAnyName) {
  Alter([](json& guarantees) {
    guarantees["promises"][1]["by"] = "team";
    guarantees["promises"][1]["group"] = "a@b";
  });
  const ProgramResult found =
      Search({"--query", "one", "--keep", "precision=0.3 for team=a@b", "--format", "json"});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_EQ(Search({"--query", "one", "--keep", "precision=0.3@0.9 for team=a@b"}).exit_code, 2);
}

TEST_F(KeptPromise, ABrokenFileIsNamed) {
  const auto broken = [&](const auto& change, const char* key) {
    const std::string before = ReadFile(Path("model/tandem.json"));
    Alter(change);
    const ProgramResult result = Search({"--query", "one", "--keep", "recall=0.8"});
    EXPECT_EQ(result.exit_code, 4) << result.err;
    EXPECT_THAT(result.err, HasSubstr(key));
    Write("model/tandem.json", before);
  };
  broken([](json& g) { g["promises"] = json::array(); }, "promises");
  broken([](json& g) { g["promises"][0]["promise"] = "recall=2"; }, "promise");
  broken([](json& g) { g["promises"][0]["threshold"] = "high"; }, "threshold");
  broken([](json& g) { g["promises"][0]["loss"] = 1.5; }, "loss");
  broken([](json& g) { g["best_scores"] = {"a"}; }, "best_scores");
  broken([](json& g) { g.erase("basis"); }, "basis");
  // A promise for a group must not become one for all.
  broken([](json& g) { g["promises"][2]["group"] = "en"; },
         "tandem.json: 'guarantees.promises[2].group' is \"en\"");
  broken([](json& g) { g["promises"][0]["by"] = "lang"; },
         "tandem.json: 'guarantees.promises[0].by' is \"lang\"");
  broken([](json& g) { g["promises"][2].erase("unanswerable"); },
         "tandem.json: 'guarantees.promises[2].unanswerable' is missing");
  broken([](json& g) { g["promises"][1]["depth"] = 501; },
         "tandem.json: 'guarantees.promises[1].depth' is 501; an integer from 1 to 500 expected");
  broken([](json& g) { g["promises"][2] = g["promises"][0]; },
         "tandem.json: 'guarantees.promises[2].promise' is \"recall=0.8\"; each promise once");
}

}  // namespace
}  // namespace tandem
