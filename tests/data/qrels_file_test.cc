#include "data/qrels_file.h"

#include <fmt/format.h>

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Qrels Read(std::string_view bytes, Warnings& warnings) {
  LineReader reader("f.qrels", bytes, warnings);
  return ReadQrels(reader);
}

std::string ErrorOf(std::string_view bytes) {
  Warnings warnings;
  return DataErrorOf([&] { Read(bytes, warnings); });
}

TEST(ReadQrels, BothFormatsAreToldApart) {
  Warnings warnings;
  for (const std::string_view bytes :
       {"q1 0 d1 2\nq2 0 d1 -1\nq1\t0\td2\t0\n", "q1\td1\t2\nq2\td1\t-1\nq1\td2\t0",
        "query-id\tcorpus-id\tscore\nq1\td1\t2.0\r\nq2\td1\t-1\nq1\t d2 \t0\n"}) {
    const Qrels qrels = Read(bytes, warnings);
    ASSERT_EQ(qrels.queries().size(), 2U);
    EXPECT_EQ(qrels.judgement_count(), 3U);
    const QueryJudgements* query = qrels.Find("q1");
    ASSERT_NE(query, nullptr);
    ASSERT_EQ(query->judgements.size(), 2U);
    EXPECT_EQ(query->judgements[0].document, "d1");
    EXPECT_EQ(query->judgements[0].grade, 2);
    EXPECT_EQ(query->judgements[1].document, "d2");
    EXPECT_EQ(qrels.Find("q2")->judgements[0].grade, -1);
    EXPECT_EQ(qrels.Find("q3"), nullptr);
  }
  EXPECT_EQ(warnings.count("lines that end in CR LF, read as LF"), 1U);
}

TEST(ReadQrels, BeirIdsMayHoldSpacesAndGradesMayBeFractions) {
  Warnings warnings;
  const Qrels qrels = Read("a query\ta document\t0.25\n", warnings);
  EXPECT_EQ(qrels.queries()[0].query, "a query");
  EXPECT_EQ(qrels.queries()[0].judgements[0].document, "a document");
  EXPECT_EQ(qrels.queries()[0].judgements[0].grade, 0.25);
  EXPECT_THAT(warnings.Messages(), IsEmpty());
}

TEST(ReadQrels, TheSameJudgementTwiceIsCounted) {
  Warnings warnings;
  EXPECT_EQ(Read("q 0 d 1\nq 0 e 1\nq 1 d 1\n", warnings).judgement_count(), 2U);
  EXPECT_THAT(
      warnings.Messages(),
      ElementsAre("f.qrels: judgements given twice, taken once: 1 (first at line 3, id q)"));
}

TEST(ReadQrels, ConflictingJudgementsNameBothLines) {
  EXPECT_EQ(ErrorOf("q 0 d 1\nr 0 d 2\nq 0 d 2\n"),
            "f.qrels:3: document d has grade 2 here and 1 in line 1; one query and document can "
            "have one grade only (id q)");
}

TEST(ReadQrels, BrokenLinesAreNamed) {
  EXPECT_EQ(ErrorOf("q 0 d 1\nq 0 d\n"),
            "f.qrels:2: has 3 fields; expected 4 (query iteration document grade) or, in a BEIR "
            "file, 3 separated by tabs");
  EXPECT_EQ(ErrorOf("q 0 d 1 x"),
            "f.qrels:1: has 5 fields; expected 4 (query iteration document grade) or, in a BEIR "
            "file, 3 separated by tabs");
  EXPECT_EQ(ErrorOf("q\td\t1\nq\td\n"),
            "f.qrels:2: has 2 tab-separated fields; expected 3 (query-id corpus-id score)");
  EXPECT_EQ(ErrorOf("q\t\t1\n"), "f.qrels:1: has an empty id");
  for (const char* grade : {"one", "nan", "inf", "1e999", "1x", "+-1", "0x1", "--1"}) {
    EXPECT_EQ(ErrorOf(std::string("q 0 d ") + grade),
              std::string("f.qrels:1: grade \"") + grade + "\" is not a finite number (id q)");
  }
  EXPECT_EQ(ErrorOf("query-id\tcorpus-id\tscore\n"), "f.qrels: holds no judgement");
  // A header is one only in the first line.
  EXPECT_EQ(ErrorOf("q\td\t1\nquery-id\tcorpus-id\tscore\n"),
            "f.qrels:2: grade \"score\" is not a finite number (id query-id)");
}

TEST(ReadQrels, ManyQueriesInAnyOrderKeepTheirJudgements) {
  std::string bytes;
  for (int document = 0; document < 50; ++document) {
    for (int query = 0; query < 40; ++query) {
      bytes += fmt::format("q{} 0 d{} {}\n", query, document, (query * document) % 4);
    }
  }
  Warnings warnings;
  const Qrels qrels = Read(bytes, warnings);
  EXPECT_EQ(qrels.judgement_count(), 2000U);
  for (int query = 0; query < 40; ++query) {
    const QueryJudgements* found = qrels.Find(fmt::format("q{}", query));
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(found->judgements.size(), 50U);
    for (int document = 0; document < 50; ++document) {
      EXPECT_EQ(found->judgements[static_cast<size_t>(document)].grade, (query * document) % 4);
    }
  }
}

}  // namespace
}  // namespace tandem::data
