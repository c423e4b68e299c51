// Rows that name documents of a corpus that is there.
#include <algorithm>
#include <string>

#include "import/columns/document_texts.h"
#include "import/import_data.h"
#include "import_test.h"
#include "support/captured_messages.h"

namespace tandem::import_data {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class ImportIntoCorpusTest : public FilesTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(Path("wiki"));
    Write("wiki/corpus.jsonl",
          "{\"_id\": \"care.md#1\", \"title\": \"Care\", \"text\": \"Wash cold.\"}\n"
          "{\"_id\": \"care.md#2\", \"text\": \"Dry flat.\"}\n"
          "{\"_id\": \"sub/returns.html\", \"text\": \"Send it back.\"}\n"
          "{\"_id\": \"17\", \"text\": \"Seventeen.\"}\n");
  }
  ImportReport Import(std::string_view csv, ImportOptions options = Options()) {
    options.sources = {Write("f.csv", csv)};
    options.output = Path("out");
    options.corpus = Path("wiki");
    data::Warnings warnings;
    return ImportData(options, warnings);
  }
  static ImportOptions Options() { return {.most_rejected = 0.99, .split = Split::kTest}; }
};

TEST_F(ImportIntoCorpusTest, JudgesDocumentsPassagesAndWholePages) {
  const ImportReport report = Import(
      "question,page\nhow do I wash them,care.md\ncan I dry them,care.md#2\nsend back,"
      "sub/returns.html\nhow do I wash them,sub/returns.html\n");
  const std::string qrels = Read("out/qrels/test.tsv");
  EXPECT_EQ(std::count(qrels.begin(), qrels.end(), '\n'), 5);
  EXPECT_THAT(qrels, testing::StartsWith("query-id\tcorpus-id\tscore\n"));
  EXPECT_THAT(qrels, HasSubstr("\tcare.md\t1\n"));
  EXPECT_THAT(qrels, HasSubstr("\tcare.md#2\t1\n"));
  EXPECT_THAT(qrels, HasSubstr("\tsub/returns.html\t1\n"));
  EXPECT_THAT(Read("out/queries.jsonl"), HasSubstr("\"text\": \"how do I wash them\"}"));
  EXPECT_EQ(Read("out/corpus.jsonl"), Read("wiki/corpus.jsonl"));
  EXPECT_FALSE(Exists("out/qrels/train.tsv"));
  EXPECT_EQ(report.queries, 3U);
  EXPECT_EQ(report.documents, 4U);
  EXPECT_EQ(report.judgements, 4U);
  EXPECT_EQ(report.judged_documents, 3U);
  EXPECT_EQ(report.cut_documents, 1U);  // care.md: care.md#2 is a text
}

TEST_F(ImportIntoCorpusTest, RejectsRowsWithUnknownDocuments) {
  const ImportReport report = Import("question,page\nq,returns\nr,nothing.md\ns,care.md\n");
  EXPECT_EQ(report.rejected, 2U);
  ASSERT_EQ(report.rejected_kinds.size(), 1U);
  EXPECT_EQ(report.rejected_kinds[0].kind, "rows with a document that the corpus lacks");
  EXPECT_EQ(report.queries, 1U);
  EXPECT_EQ(report.unjudged_queries, 0U);
  const std::string rejected = Read("out/rejected.jsonl");
  EXPECT_THAT(rejected, HasSubstr("corpus.jsonl has no document \\\"returns\\\"; did you mean "
                                  "\\\"sub/returns.html\\\"?\", \"row\": \"q,returns\"}\n"));
  EXPECT_THAT(rejected, HasSubstr("has no document \\\"nothing.md\\\"; its ids are such as "
                                  "\\\"care.md\\\"\", \"row\": \"r,nothing.md\"}\n"));
}

TEST_F(ImportIntoCorpusTest, FindsTheColumnByWhatItHolds) {
  // "answer" is the name of a document's column, and "id" is that of the row.
  const ImportReport report =
      Import("id,question,answer,where\n1,q,Wash it.,care.md\n2,r,Send it.,sub/returns.html\n");
  EXPECT_THAT(Read("out/qrels/test.tsv"), EndsWith("\tsub/returns.html\t1\n"));
  EXPECT_EQ(report.rejected, 0U);
  EXPECT_EQ(report.judgements, 2U);
  EXPECT_THAT(report.sources[0].reasons,
              testing::Contains("document: \"where\" (its values are ids of the corpus)"));
  EXPECT_THAT(report.sources[0].reasons, testing::Contains("not used: \"id\", \"answer\""));
}

TEST_F(ImportIntoCorpusTest, AsksWhereTwoColumnsNameDocuments) {
  const std::string error =
      ErrorOf(ExitCode::kUsage, [&] { Import("question,one,two\nq,care.md,17\nr,17,care.md\n"); });
  EXPECT_THAT(error, HasSubstr("f.csv: the columns \"one\" and \"two\" both name documents of "));
  EXPECT_THAT(error, EndsWith("--document \"two\""));
  EXPECT_FALSE(Exists("out"));
}

TEST_F(ImportIntoCorpusTest, TakesGradesAndNegatives) {
  Import("question,page,negative,grade\nq,care.md,17,2\n");
  const std::string qrels = Read("out/qrels/test.tsv");
  EXPECT_THAT(qrels, HasSubstr("\tcare.md\t2\n"));
  EXPECT_THAT(qrels, HasSubstr("\t17\t0\n"));
}

TEST_F(ImportIntoCorpusTest, MakesSplitsWhereAsked) {
  std::string csv = "question,page\n";
  for (int i = 0; i < 40; ++i) {
    csv += fmt::format("question {}?,{}\n", i * 7919, i % 2 == 0 ? "care.md" : "17");
  }
  const ImportReport report =
      Import(csv, {.most_rejected = 0, .holdout = {.share = 0.2, .by_documents = false}});
  EXPECT_EQ(report.splits.at(Split::kTest).queries, 4U);
  EXPECT_EQ(report.splits.at(Split::kTrain).queries, 32U);
}

TEST_F(ImportIntoCorpusTest, RefusesACorpusWithAnIdTwice) {
  Write("wiki/corpus.jsonl",
        "{\"_id\": \"a#1\", \"text\": \"t\"}\n{\"_id\": \"a\", \"text\": \"t\"}\n"
        "{\"_id\": \"a#1\", \"text\": \"u\"}\n");
  EXPECT_THAT(ErrorOf(ExitCode::kData, [&] { Import("question,page\nq,a\n"); }),
              HasSubstr("corpus.jsonl:3"));
}

TEST_F(ImportIntoCorpusTest, NamesOfFilesAreNoTexts) {
  ImportOptions options = Options();
  options.sources = {Write("f.csv", "question,page\nq,care.md\nr,Care of it.HTML\n")};
  options.output = Path("out");
  data::Warnings warnings;
  const auto import = [&] { ImportData(options, warnings); };
  const std::string error = ErrorOf(ExitCode::kUsage, import);
  EXPECT_THAT(error, HasSubstr("the column \"page\" names files (\"care.md\"), and documents are "
                               "read as texts; --corpus FOLDER takes them"));
  EXPECT_FALSE(Exists("out"));
  options.corpus = "-";
  EXPECT_EQ(ErrorOf(ExitCode::kUsage, import), "no error");
  EXPECT_THAT(Read("out/corpus.jsonl"), HasSubstr("\"text\": \"care.md\""));
}

TEST_F(ImportIntoCorpusTest, IdsAreTakenAsTextsWithAWarning) {
  const auto warned = [&](std::string_view csv) {
    ImportOptions options = Options();
    options.sources = {Write("f.csv", csv)};
    options.is_trial = true;
    data::Warnings warnings;
    const CapturedMessages messages;
    ImportData(options, warnings);
    return messages.text();
  };
  EXPECT_THAT(warned("question,answer\nq,PMC1\nr,PMC2\n"),
              HasSubstr("the column \"answer\" seems to hold ids (\"PMC1\"), which are taken as"));
  EXPECT_EQ(warned("question,answer\nq,PMC1\nr,Seven days\n"), "");
}

TEST(NamesFile, TellsNamesFromTexts) {
  EXPECT_TRUE(NamesFile("care.md"));
  EXPECT_TRUE(NamesFile("How to care/Guide 2.HTML"));
  EXPECT_TRUE(NamesFile("guide.md#3"));
  EXPECT_TRUE(NamesFile("https://example.org/care?id=3"));
  EXPECT_FALSE(NamesFile("See https://example.org/care"));
  EXPECT_FALSE(NamesFile("https://example.org/care says it all."));
  EXPECT_FALSE(NamesFile("Wash them cold."));
  EXPECT_FALSE(NamesFile(".md"));
  EXPECT_FALSE(NamesFile("A text of two lines\nthat ends with guide.md"));
  EXPECT_FALSE(NamesFile(""));
}

}  // namespace
}  // namespace tandem::import_data
