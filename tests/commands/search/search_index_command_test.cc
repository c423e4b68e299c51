// tandem search with an index, as a user runs it, on a small model.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/process/asked_forms.h"
#include "commands/model_commands_fixture.h"

namespace tandem {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class SearchIndexTest : public ModelCommandsTest {
 protected:
  SearchIndexTest() {
    std::string documents;
    for (int d = 0; d < 12; ++d) {
      documents += fmt::format(R"({{"_id": "d{}", "text": "{}", "year": {}, "lang": "{}"}})"
                               "\n",
                               d, TextOf(d), 2010 + d, d % 2 == 0 ? "en" : "de");
    }
    Write("documents.jsonl", documents);
    Build({"--field", "year:number", "--field", "lang"});
  }

  static std::string TextOf(int d) {
    const std::vector<std::string> words = TinyWords();
    const auto word = [&](int i) { return words[static_cast<size_t>(i) % words.size()]; };
    return fmt::format("{} {} {} {}", word(d), word(3 * d + 1), word(d / 2), d);
  }

  void Build(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {
        "index",    "build",       Path("model"), Path("documents.jsonl"),
        "--output", Path("index"), "--replace",   "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult built = RunTandem(arguments);
    ASSERT_EQ(built.exit_code, 0) << built.err;
  }

  ProgramResult SearchIndex(const std::vector<std::string>& more,
                            const std::string& standard_input = "") const {
    std::vector<std::string> arguments = {"search", Path("index")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back("--quiet");
    return RunTandem(arguments, standard_input);
  }

  // The same documents without an index, asked two questions.
  ProgramResult SearchCorpus(const std::string& format) const {
    std::filesystem::create_directories(Path("corpus"));
    Write("corpus/corpus.jsonl", ReadFile(Path("documents.jsonl")));
    return RunTandem({"search", "--model", Path("model"), "--dataset", Path("corpus"), "--query",
                      "alpha beta", "gamma", "--format", format, "--quiet"});
  }

  void ExpectError(const std::vector<std::string>& more, int exit_code,
                   const std::string& message) const {
    const ProgramResult result = SearchIndex(more);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "error: " + message + "\n");
  }
};

std::vector<std::string> Documents(const json& hits) {
  std::vector<std::string> ids;
  for (const json& hit : hits) ids.push_back(hit["document"]);
  return ids;
}

TEST_F(SearchIndexTest, FindsWhatASearchInTheCorpusFinds) {
  const ProgramResult corpus = SearchCorpus("json");
  const ProgramResult index = SearchIndex({"alpha beta", "gamma", "--format", "json"});
  ASSERT_EQ(index.exit_code, 0) << index.err;
  const json expected = json::parse(corpus.out), found = json::parse(index.out);
  ASSERT_EQ(found.size(), 2);
  for (size_t q = 0; q < 2; ++q) {
    EXPECT_EQ(found[q]["query"], expected[q]["query"]);
    EXPECT_EQ(Documents(found[q]["hits"]), Documents(expected[q]["hits"]));
    ASSERT_EQ(found[q]["hits"].size(), 10);
    for (size_t h = 0; h < 10; ++h) {
      const json &hit = found[q]["hits"][h], &other = expected[q]["hits"][h];
      EXPECT_NEAR(hit["score"].get<double>(), other["score"].get<double>(), 1e-5);
      EXPECT_EQ(hit["text"], other["text"]);
    }
  }
}

TEST_F(SearchIndexTest, TextsBecomeARunInACorpusToo) {
  const ProgramResult corpus = SearchCorpus("trec");
  EXPECT_EQ(corpus.exit_code, 0) << corpus.err;
  EXPECT_EQ(std::count(corpus.out.begin(), corpus.out.end(), '\n'), 24);  // at most 100 each
  EXPECT_THAT(corpus.out, testing::ContainsRegex("^q1 Q0 d[0-9]+ 1 [-.0-9e]+ tandem\n"));
  EXPECT_THAT(corpus.out, testing::ContainsRegex("\nq2 Q0 d[0-9]+ 12 [-.0-9e]+ tandem\n$"));
}

TEST_F(SearchIndexTest, FiltersByFields) {
  const auto found = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"alpha", "--format", "json", "--k", "100"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = SearchIndex(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> ids = Documents(json::parse(result.out)[0]["hits"]);
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  EXPECT_EQ(found({}).size(), 12);
  EXPECT_EQ(found({"--filter", "year>=2020"}), (std::vector<std::string>{"d10", "d11"}));
  EXPECT_EQ(found({"--filter", "lang = de", "--filter", "year<2014"}),
            (std::vector<std::string>{"d1", "d3"}));
  const ProgramResult none = SearchIndex({"alpha", "--filter", "year>3000", "--min-score", "0"});
  EXPECT_EQ(none.out, "alpha\nno document has year>3000 and a score of at least 0\n");
}

TEST_F(SearchIndexTest, ReadsQueriesFromFilesAndLines) {
  if (FormsOfEnvironment() != AskedForms::kFused) GTEST_SKIP() << "other forms round by the batch";
  Write("queries.jsonl",
        "{\"_id\": \"x\", \"text\": \"alpha\"}\n{\"_id\": \"y\", \"text\": \"beta\"}\n");
  Write("queries.txt", "alpha\nbeta\n");
  const ProgramResult to_file =
      SearchIndex({"--queries", Path("queries.jsonl"), "--k", "2", "--output", Path("run.trec")});
  ASSERT_EQ(to_file.exit_code, 0) << to_file.err;
  const std::string run = ReadFile(Path("run.trec"));
  EXPECT_THAT(run, testing::MatchesRegex("x Q0 d[0-9]+ 1 [-.0-9e]+ tandem\n"
                                         "x Q0 d[0-9]+ 2 [-.0-9e]+ tandem\n"
                                         "y Q0 d[0-9]+ 1 [-.0-9e]+ tandem\n"
                                         "y Q0 d[0-9]+ 2 [-.0-9e]+ tandem\n"));
  const auto with_ids = [&](std::string first, std::string second) {
    std::string text = run;
    for (char& c : text) {
      if (c == 'x') c = '\1';
      if (c == 'y') c = '\2';
    }
    for (size_t at = 0; (at = text.find_first_of("\1\2")) != std::string::npos;) {
      text.replace(at, 1, text[at] == '\1' ? first : second);
    }
    return text;
  };
  const std::vector<std::string> as_run = {"--k", "2", "--format", "trec"};
  const auto out = [&](std::vector<std::string> arguments, const std::string& input) {
    arguments.insert(arguments.end(), as_run.begin(), as_run.end());
    const ProgramResult result = SearchIndex(arguments, input);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(out({"--queries", Path("queries.txt")}, ""), with_ids("1", "2"));
  EXPECT_EQ(out({"alpha", "beta"}, ""), with_ids("q1", "q2"));
  EXPECT_EQ(out({"-"}, "alpha\n\nbeta"), with_ids("q1", "q3"));
  EXPECT_EQ(out({}, "alpha\nbeta\n"), with_ids("q1", "q2"));
  EXPECT_EQ(out({"--queries", "-"}, ReadFile(Path("queries.jsonl"))), run);
  const ProgramResult lines = SearchIndex({"--format", "json"}, "alpha\nbeta\n");
  ASSERT_EQ(std::count(lines.out.begin(), lines.out.end(), '\n'), 2);
  EXPECT_EQ(json::parse(lines.out.substr(0, lines.out.find('\n')))["query"], "alpha");
}

TEST_F(SearchIndexTest, HighlightsPassages) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "Delta gamma beta. ";
  text += "Alpha alpha alpha. ";
  for (int i = 0; i < 30; ++i) text += "Delta gamma beta. ";
  Write("documents.jsonl", json({{"_id", "long"}, {"text", text}}).dump() + "\n" +
                               json({{"_id", "short"}, {"text", "Beta."}}).dump() + "\n");
  Build({});
  const ProgramResult result =
      SearchIndex({"alpha alpha alpha", "--highlight", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const json& hit : json::parse(result.out)[0]["hits"]) {
    const std::string of = hit["text"], passage = hit["highlight"]["text"];
    const size_t begin = hit["highlight"]["begin"], end = hit["highlight"]["end"];
    EXPECT_EQ(of.substr(begin, end - begin), passage);
    if (hit["document"] == "short") {
      EXPECT_EQ(passage, of);
    } else {
      EXPECT_LE(passage.size(), 320);
      EXPECT_THAT(passage, HasSubstr("Alpha alpha alpha."));
    }
  }
  const ProgramResult shown = SearchIndex({"alpha", "", "--highlight"});
  EXPECT_THAT(shown.out, HasSubstr("\n      » "));
  EXPECT_THAT(shown.err, HasSubstr("1 of 2 queries are empty"));
}

TEST_F(SearchIndexTest, RefusesWhatCannotBe) {
  ExpectError({"x", "--filter", "yaer>=2020"}, 2,
              "filter: the index has no field yaer; did you mean year?; it has year (number), lang "
              "(string)");
  ExpectError({"x", "--filter", "year>=new"}, 2, "filter: field year holds numbers; found \"new\"");
  ExpectError({"x", "--min-probability", "0.5"}, 2,
              fmt::format("{0}: its scores are not known to be probabilities, which "
                          "--min-probability needs; fit them to judgements: tandem calibrate {0} "
                          "--dataset DATA --split dev",
                          Path("model")));
  ExpectError({"x", "--dataset", "d"}, 2,
              fmt::format("search either the index {} or the corpus of --dataset; what is searched "
                          "for in the latter is --query \"free text\"",
                          Path("index")));
  ExpectError({"x", "--dimensions", "8"}, 2,
              "the index decides --dimensions: it was built with it");
  ExpectError({"x", "--split", "dev"}, 2, "--split is for --dataset, not for an index");
  ExpectError({"x", "--queries", "q.jsonl"}, 2,
              "--queries says which queries are searched; it excludes free text");
  ExpectError({"x", "--queries", "q.jsonl", "--min-score", "nan"}, 2,
              "--queries says which queries are searched; it excludes free text");
  const ProgramResult missing = RunTandem({"search", Path("none"), "x"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.err, fmt::format("error: {}: there is no such folder; an index was expected\n",
                                     Path("none")));
  const ProgramResult corpus = RunTandem(
      {"search", "--model", "m", "--dataset", "d", "--query", "x", "--filter", "year>2000"});
  EXPECT_EQ(corpus.err, "error: --filter needs an index (tandem index build)\n");
  const ProgramResult format = RunTandem(
      {"search", "--model", "m", "--dataset", "d", "--output", "run.trec", "--format", "json"});
  EXPECT_EQ(format.exit_code, 2);
  EXPECT_EQ(format.err,
            "error: the queries of --split and --queries become a TREC run; --format json is for "
            "--query, or for an index\n");
  EXPECT_EQ(RunTandem({"search"}).err, "error: name an index, or give --model and --dataset\n");
}

TEST_F(SearchIndexTest, AnIndexMayHaveALeastProbability) {
  Write("model/tandem.json", R"({"format": 1, "objective": "bixse",
        "probability": {"scale": 20, "bias": -16, "similarity": "cosine"}})");
  Build({});
  const auto ask = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"alpha beta", "--format", "json", "--k", "12"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = SearchIndex(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out)[0]["hits"];
  };
  const json all = ask({}), probable = ask({"--min-probability", "0.5"});
  ASSERT_EQ(all.size(), 12U);
  ASSERT_GT(probable.size(), 0U);
  ASSERT_LT(probable.size(), 12U);
  Build({"--min-probability", "0.5"});
  EXPECT_EQ(ask({}), probable);
  EXPECT_EQ(ask({"--min-probability", "0"}), all);
  EXPECT_EQ(ask({"--min-probability", "0.5"}), probable);
  EXPECT_THAT(RunTandem({"index", "info", Path("index")}).out,
              HasSubstr("of a probability of at least 0.5, unless a search asks for another"));
  Write("model/tandem.json", R"({"format": 1})");
  const ProgramResult gone = SearchIndex({"alpha beta"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_THAT(gone.err, HasSubstr("the index shows hits of a probability of at least 0.5, and "));
  EXPECT_EQ(SearchIndex({"alpha beta", "--min-probability", "0"}).exit_code, 0);
  for (const char* wrong : {"0.5", "1.5", "nan"}) {  // not calibrated, and no probabilities
    const ProgramResult refused =
        RunTandem({"index", "build", Path("model"), Path("documents.jsonl"), "--output",
                   Path("other"), "--min-probability", wrong});
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("--min-probability")) << wrong;
  }
}

TEST_F(SearchIndexTest, RefusesAnotherModel) {
  WriteTinyModel(Path("other"), {.seed = 2});
  ExpectError({"x", "--model", Path("other")}, 4,
              fmt::format("{}: is not the model that the index was made with ({}): its weights, "
                          "settings or tokenizer differ",
                          Path("other"), Path("model")));
  std::filesystem::rename(Path("model"), Path("moved"));
  EXPECT_THAT(SearchIndex({"x"}).err, HasSubstr("name the folder that it has moved to"));
  EXPECT_EQ(SearchIndex({"x", "--model", Path("moved")}).exit_code, 0);
}

TEST_F(SearchIndexTest, RefusesAnAlteredIndexAndLeavesNoRunBehind) {
  const std::string file = Path("index/segment-000001/vectors.f32");
  std::string bytes = ReadFile(file);
  bytes[10] = static_cast<char>(bytes[10] ^ 1);
  WriteFileAtomically(file, bytes);
  const ProgramResult result = SearchIndex({"x", "--output", Path("run.trec")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("vectors.f32: is not as it was written"));
  EXPECT_FALSE(std::filesystem::exists(Path("run.trec")));
}

}  // namespace
}  // namespace tandem
