// Telling formats apart, and reading the same data from every format.
#include "data/read_dataset.h"

#include <map>

#include "data/data_test.h"
#include "data/formats/beir.h"
#include "support/test_data.h"

namespace tandem::data {
namespace {

constexpr std::string_view kColumns = R"({"anchor": "a", "positive": "p"})";
constexpr std::string_view kFlag = R"({"query": "a", "pos": ["p"]})";
constexpr std::string_view kTevatron =
    R"({"query_id": "q", "query": "a", "positive_passages": [{"docid": "d", "text": "p"}]})";

TEST(ReadDataset, TheFirstLineTellsTheFormat) {
  const TemporaryFolder folder;
  for (const std::string_view line : {kColumns, kFlag, kTevatron}) {
    WriteFileAtomically(folder.path() / "f.jsonl", line);
    WriteGzip(folder.path() / "f.jsonl.gz", line);
    for (const char* name : {"f.jsonl", "f.jsonl.gz"}) {
      const Dataset dataset = ReadDataset(folder.path() / name, "auto", "train");
      EXPECT_EQ(JudgedTexts(dataset, 0), "p=1@1");
      EXPECT_EQ(dataset.queries.id(0), line == kTevatron ? "q" : "1");
      EXPECT_EQ(dataset.documents.id(0), line == kTevatron ? "d"
                                         : line == kFlag   ? "1:pos:1"
                                                           : "1:positive");
    }
  }
  const BeirFolder beir;
  const Dataset dataset = ReadDataset(beir.path(), "auto", "test");
  EXPECT_EQ(JudgedTexts(dataset, 0), "Title first document=2@2 second document=0@4");
  EXPECT_TRUE(dataset.has_grades);
}

TEST(ReadDataset, AFormatThatIsNamedIsTaken) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.jsonl";
  WriteFileAtomically(path, kFlag);
  EXPECT_EQ(ReadDataset(path, "flag_embedding", "").documents.id(0), "1:pos:1");
  EXPECT_EQ(DataErrorOf([&] { ReadDataset(path, "tevatron", ""); }),
            path.native() + ":1: has no \"positive_passages\"");
  EXPECT_EQ(
      DataErrorOf([&] { ReadDataset(path, "sentence_transformers", ""); }),
      path.native() +
          ":1: \"pos\" looks like a positive, which this format has in \"positive\", "
          "\"document\", \"answer\", \"sentence2\" or \"hypothesis\": rename it, or pass over "
          "it by data.ignore_columns = [\"pos\"] in a recipe, --ignore-columns pos elsewhere");
  EXPECT_THROW(ReadDataset(path, "parquet", ""), UsageError);
  WriteFileAtomically(path, "\n");
  EXPECT_EQ(DataErrorOf([&] { ReadDataset(path, "auto", ""); }),
            path.native() + ": holds no example");
}

TEST(ReadDataset, NothingThereOrParquet) {
  const TemporaryFolder folder;
  const std::string nothing =
      ": there is no such file or folder; expected a BEIR folder or a file of JSON lines, CSV or "
      "TSV";
  for (const char* name : {"nope.jsonl", "x.parquet", "folder"}) {
    const auto path = folder.path() / name;
    EXPECT_EQ(DataErrorOf([&] { ReadDataset(path, "auto", ""); }), path.native() + nothing);
  }
  const auto path = folder.path() / "x.parquet";
  WriteFileAtomically(path, "PAR1");
  EXPECT_EQ(
      DataErrorOf([&] { ReadDataset(path, "auto", ""); }),
      path.native() +
          ": is a Parquet file, which this program does not read. Where Python has pyarrow, this "
          "makes JSON lines of it: python3 -c \"import json, pyarrow.parquet as p; "
          "[print(json.dumps(r, default=str)) for r in p.read_table('" +
          path.native() +
          "').to_pylist()]\" > x.jsonl; the tandem of the Python package (./dev wheel) reads it "
          "as it is (docs/parquet.md)");
}

// Escapes what a JSON string must escape: real texts have quotes, backslashes and line ends.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", c);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

using Judgements = std::map<std::string, std::map<std::string, double>>;  // query, document, grade

Judgements ByText(const Dataset& dataset) {
  Judgements all;
  for (const JudgedQuery& query : dataset.judged) {
    for (const Judgement& judgement : query.judgements) {
      all[std::string(dataset.queries.text(query.query))]
         [std::string(dataset.documents.text(judgement.document))] = judgement.grade;
    }
  }
  return all;
}

TEST(ReadDataset, RealDataAreTheSameInEveryFormat) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const Dataset beir = ReadDataset(*shared / "data/scifact", "auto", "test");
  std::string columns, flag, tevatron;
  for (const JudgedQuery& query : beir.judged) {
    std::string texts, passages;
    for (const Judgement& judgement : query.judgements) {
      const std::string_view comma = texts.empty() ? "" : ", ";
      const std::string text = Quoted(beir.documents.text(judgement.document));
      texts += fmt::format("{}{}", comma, text);
      passages += fmt::format("{}{{\"docid\": {}, \"text\": {}}}", comma,
                              Quoted(beir.documents.id(judgement.document)), text);
    }
    const std::string text = Quoted(beir.queries.text(query.query));
    columns += fmt::format("{{\"anchor\": {}, \"positive\": [{}]}}\n", text, texts);
    flag += fmt::format("{{\"query\": {}, \"pos\": [{}], \"neg\": []}}\n", text, texts);
    tevatron += fmt::format(
        "{{\"query_id\": {}, \"query\": {}, \"positive_passages\": [{}], \"negative_passages\": "
        "[]}}\n",
        Quoted(beir.queries.id(query.query)), text, passages);
  }
  const Judgements want = ByText(beir);
  ASSERT_EQ(want.size(), 300U);
  const TemporaryFolder folder;
  for (const std::string& lines : {columns, flag, tevatron}) {
    WriteFileAtomically(folder.path() / "f.jsonl", lines);
    EXPECT_EQ(ByText(ReadDataset(folder.path() / "f.jsonl", "auto", "")), want);
  }
}

}  // namespace
}  // namespace tandem::data
