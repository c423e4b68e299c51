// `--by-document` of `tandem search`, `evaluate`, `compare` and `report` on passages, as a user
// runs them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class ByDocument : public testing::Test {
 protected:
  ByDocument() {
    WriteTinyModel(folder_.path() / "model");
    std::filesystem::create_directories(folder_.path() / "data" / "qrels");
    Write("data/corpus.jsonl",
          R"({"_id": "a#1", "text": "alpha beta gamma"}
{"_id": "a#2", "text": "alpha beta delta"}
{"_id": "a#3", "text": "alpha beta"}
{"_id": "b#1", "text": "red green music"}
{"_id": "b#2", "text": "alpha red blue"}
{"_id": "c", "text": "editor photo game"}
)");
    Write("data/queries.jsonl", R"({"_id": "q1", "text": "alpha beta"}
{"_id": "q2", "text": "editor game"}
)");
    Write("data/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tc\t1\nq2\tb#2\t1\n");
  }
  void Write(const std::string& name, std::string_view bytes) const {
    WriteFileAtomically(folder_.path() / name, bytes);
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  std::vector<std::string> InCorpus(const std::string& command) const {
    return {command, "--model", Path("model"), "--dataset", Path("data")};
  }
  static ProgramResult Run(std::vector<std::string> command, const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
    return RunTandem(command);
  }

  TemporaryFolder folder_;
};

TEST_F(ByDocument, HitsAreDocumentsWithTheirBestPassages) {
  const ProgramResult found =
      Run(InCorpus("search"), {"--by-document", "--query", "alpha beta", "--format", "json"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const auto hits = nlohmann::json::parse(found.out)[0]["hits"];
  ASSERT_EQ(hits.size(), 3U);
  EXPECT_EQ(hits[0]["document"], "a");
  EXPECT_EQ(hits[0]["passage"], "a#3");
  EXPECT_EQ(hits[0]["text"], "alpha beta");
  EXPECT_THAT(Run(InCorpus("search"), {"--by-document", "--query", "alpha beta"}).out,
              HasSubstr("  a#3"));
}

TEST_F(ByDocument, AnIndexAnswersAsTheCorpusDoes) {
  ASSERT_EQ(RunTandem({"index", "build", Path("model"), Path("data"), "--output", Path("index"),
                       "--kind", "fp32"})
                .exit_code,
            0);
  const std::vector<std::string> more = {"--by-document", "--k", "2", "--format", "json"};
  std::vector<std::string> of_corpus = more;
  of_corpus.insert(of_corpus.end(), {"--query", "alpha red"});
  const ProgramResult corpus = Run(InCorpus("search"), of_corpus);
  const ProgramResult index = Run({"search", Path("index"), "alpha red"}, more);
  ASSERT_EQ(index.exit_code, 0) << index.err;
  const auto want = nlohmann::json::parse(corpus.out)[0]["hits"];
  const auto found = nlohmann::json::parse(index.out)[0]["hits"];
  ASSERT_EQ(found.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    for (const char* key : {"document", "passage", "text"}) EXPECT_EQ(found[i][key], want[i][key]);
    EXPECT_NEAR(found[i]["score"].get<double>(), want[i]["score"].get<double>(), 1e-6);
  }
  const ProgramResult tsv = RunTandem(
      {"search", Path("index"), "alpha red", "--by-document", "--k", "1", "--format", "tsv"});
  EXPECT_THAT(tsv.out, testing::MatchesRegex("alpha red\t1\tb\t0\\.[0-9]+\tb#2\n"));
  const ProgramResult refused =
      RunTandem({"search", Path("index"), "alpha", "--by-document", "--highlight"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("it excludes --highlight"));
}

TEST_F(ByDocument, RunsNameDocumentsAndMeasureAsTheModelDoes) {
  const ProgramResult run =
      Run(InCorpus("search"), {"--by-document", "--output", Path("run.trec")});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(ReadFile(Path("run.trec")), HasSubstr("q1 Q0 a 1 "));
  Write("documents.tsv", "query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tc\t1\nq2\tb\t1\n");
  const std::vector<std::string> measures = {"--measures", "ndcg@10,recall@2", "--format", "json"};
  const ProgramResult of_run =
      Run({"evaluate", "--qrels", Path("documents.tsv"), "--run", Path("run.trec")}, measures);
  std::vector<std::string> more = measures;
  more.emplace_back("--by-document");
  const ProgramResult of_model = Run(InCorpus("evaluate"), more);
  ASSERT_EQ(of_model.exit_code, 0) << of_model.err;
  EXPECT_EQ(of_model.out, of_run.out);
  // Without the flag the judged documents are not there.
  EXPECT_NE(Run(InCorpus("evaluate"), measures).out, of_run.out);
}

TEST_F(ByDocument, AModelIsComparedWithItsOwnRunOfDocuments) {
  ASSERT_EQ(Run(InCorpus("search"), {"--by-document", "--output", Path("run.trec")}).exit_code, 0);
  Write("data/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tc\t1\nq2\tb\t1\n");
  const std::vector<std::string> compare = {"compare",   Path("model"), Path("run.trec"),
                                            "--dataset", Path("data"),  "--measures",
                                            "ndcg@10",   "--queries",   "1",
                                            "--format",  "json"};
  const ProgramResult found = Run(compare, {"--by-document"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const auto of = [](const ProgramResult& result) {
    return nlohmann::json::parse(result.out)["systems"][0]["measures"]["ndcg@10"];
  };
  EXPECT_EQ(of(found)["baseline"], of(found)["value"]);
  // Without the flag the model ranks passages, of which only c, which was not cut, is judged.
  const ProgramResult passages = RunTandem(compare);
  ASSERT_EQ(passages.exit_code, 0) << passages.err;
  EXPECT_LT(of(passages)["baseline"], of(passages)["value"]);
}

TEST_F(ByDocument, AReportMeasuresDocuments) {
  const ProgramResult measured =
      Run(InCorpus("evaluate"), {"--by-document", "--measures", "ndcg@10", "--format", "json"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const double ndcg = nlohmann::json::parse(measured.out)["measures"]["ndcg@10"].get<double>();
  const ProgramResult report = RunTandem({"report", Path("model"), "--dataset", Path("data"),
                                          "--by-document", "--output", Path("page")});
  ASSERT_EQ(report.exit_code, 0) << report.err;
  const std::string page = ReadFile(Path("page") + "/index.html");
  EXPECT_THAT(page, HasSubstr("data, by document"));
  EXPECT_THAT(page, HasSubstr(fmt::format("<strong>{:.3f}</strong>", ndcg)));
  EXPECT_THAT(page, HasSubstr("alpha beta gamma"));  // a document by its first passage
}

TEST_F(ByDocument, RunsAndReportsWithoutACorpusRefuseIt) {
  const ProgramResult compared =
      RunTandem({"compare", "a.trec", "b.trec", "--dataset", Path("data"), "--by-document"});
  EXPECT_EQ(compared.exit_code, 2);
  EXPECT_THAT(compared.err,
              HasSubstr("--by-document is for models; runs are compared as they are"));
  const ProgramResult report = RunTandem({"report", Path("model"), "--by-document"});
  EXPECT_EQ(report.exit_code, 2);
  EXPECT_THAT(report.err, HasSubstr("--by-document says how the documents of --dataset"));
}

TEST_F(ByDocument, RefusesFlagsOfTexts) {
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--views"},
                                             {"--pool", "5"},
                                             {"--thresholds", "results=1"},
                                             {"--apply-thresholds", "t.json"}}) {
    const ProgramResult result = Run(InCorpus("evaluate"), [&] {
      std::vector<std::string> more = flags;
      more.emplace_back("--by-document");
      return more;
    }());
    EXPECT_EQ(result.exit_code, 2) << flags[0];
    EXPECT_THAT(result.err, HasSubstr(flags[0] + " is for the texts of a corpus"));
  }
}

TEST_F(ByDocument, RefusesSetsOfTextsInASuiteFile) {
  Write("suite.toml", "[[set]]\npath = \"" + Path("data") + "\"\npool = 3\n");
  const ProgramResult result = RunTandem(
      {"evaluate", "--model", Path("model"), "--suite", Path("suite.toml"), "--by-document"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("it excludes --by-document"));
}

TEST_F(ByDocument, PassagesThatStandApartAreRefused) {
  Write(
      "data/corpus.jsonl",
      "{\"_id\": \"a#1\", \"text\": \"x\"}\n{\"_id\": \"b\", \"text\": \"y\"}\n{\"_id\": \"a#2\", "
      "\"text\": \"z\"}\n");
  const ProgramResult result = Run(InCorpus("search"), {"--by-document", "--query", "x"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("do not stand side by side"));
}

}  // namespace
}  // namespace tandem
