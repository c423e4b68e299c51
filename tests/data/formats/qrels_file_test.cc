#include "data/formats/qrels_file.h"

#include <fmt/format.h>

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Qrels QrelsOf(std::string_view bytes, Warnings& warnings) {
  LineReader reader("f.qrels", bytes, warnings);
  return ReadQrels(reader);
}

std::string QrelsErrorOf(std::string_view bytes) {
  Warnings warnings;
  return DataErrorOf([&] { QrelsOf(bytes, warnings); });
}

TEST(ReadQrels, BothFormatsAreToldApart) {
  Warnings warnings;
  for (const std::string_view bytes :
       {"q1 0 d1 2\nq2 0 d1 -1\nq1\t0\td2\t0\n", "q1\td1\t2\nq2\td1\t-1\nq1\td2\t0",
        "query-id\tcorpus-id\tscore\nq1\td1\t2.0\r\nq2\td1\t-1\nq1\t d2 \t0\n"}) {
    const Qrels qrels = QrelsOf(bytes, warnings);
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

TEST(ReadQrels, AHeaderOfOtherNamesSaysWhichColumnIsWhich) {
  for (const std::string_view bytes :
       {"query_id\tdoc_id\trelevance\nq\td\t2\n", "qid\tdocid\trel\nq\td\t2\n",
        "Query-ID\tCorpus-ID\tScore\nq\td\t2\n", "QUERY\tDOCUMENT\tLABEL\nq\td\t2\n",
        "corpus-id\tscore\tquery-id\nd\t2\tq\n", "score\tquery-id\tcorpus-id\n2\tq\td\n",
        "query-id,corpus-id,score\nq,d,2\n", "\"qid\",\"pid\",\"grade\"\n\"q\",\"d\",2\n",
        "query-id corpus-id score\nq d 2\n", "qid iter docno rel\nq 0 d 2\n",
        "topic\titeration\tdocument id\tjudgment\nq\t0\td\t2\n"}) {
    Warnings warnings;
    const Qrels qrels = QrelsOf(bytes, warnings);
    ASSERT_EQ(qrels.judgement_count(), 1U) << bytes;
    EXPECT_EQ(qrels.queries()[0].query, "q") << bytes;
    EXPECT_EQ(qrels.queries()[0].judgements[0].document, "d") << bytes;
    EXPECT_EQ(qrels.queries()[0].judgements[0].grade, 2) << bytes;
    EXPECT_THAT(warnings.Messages(), IsEmpty()) << bytes;
  }
}

TEST(ReadQrels, OtherColumnsAreCountedByName) {
  Warnings warnings;
  EXPECT_EQ(
      QrelsOf("query-id\tcorpus-id\tscore\tannotator\nq\td\t1\tme\n", warnings).judgement_count(),
      1U);
  EXPECT_THAT(warnings.Messages(),
              ElementsAre("f.qrels: columns \"annotator\" beside the judgements, ignored: 1 (first "
                          "at line 1)"));
}

TEST(ReadQrels, AHeaderThatIsNotKnownIsRefused) {
  const std::string expected =
      "; expected BEIR's columns, query-id, corpus-id and score, separated by tabs, or TREC's, "
      "query, iteration, document and grade, separated by blanks";
  EXPECT_EQ(QrelsErrorOf("frage\tantwort\tnote\nq\td\t1\n"),
            "f.qrels:1: the first line is neither a judgement nor a header with known names of all "
            "three columns: it has \"frage\", \"antwort\", \"note\"" +
                expected);
  EXPECT_EQ(QrelsErrorOf("query-id\tquery\tcorpus-id\tscore\nq\tx\td\t1\n"),
            "f.qrels:1: the header has two columns of queries: \"query-id\" and \"query\"");
  EXPECT_EQ(QrelsErrorOf("q,d,1\n"),
            "f.qrels:1: has columns separated by commas and no header, such as "
            "query-id,corpus-id,score, that says which is which" +
                expected);
  EXPECT_EQ(QrelsErrorOf("qid,docid,rel\nq,d\n"), "f.qrels:2: has 2 columns; the header has 3");
  EXPECT_THAT(QrelsErrorOf("<!doctype html>\n"), testing::HasSubstr("f.qrels:1: is an HTML page"));
  EXPECT_EQ(QrelsErrorOf(std::string_view("\xFF\xFEq\0\t\0", 6)),
            "f.qrels: is UTF-16LE, expected UTF-8: convert it with `iconv -f UTF-16 -t UTF-8 "
            "f.qrels > NEW`");
  EXPECT_EQ(QrelsErrorOf("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
            "f.qrels: is a Git LFS pointer, not the file itself: fetch it with `git lfs pull` in "
            "its repository, or download the file");
}

TEST(ReadQrels, BeirIdsMayHoldSpacesAndGradesMayBeFractions) {
  Warnings warnings;
  const Qrels qrels = QrelsOf("a query\ta document\t0.25\n", warnings);
  EXPECT_EQ(qrels.queries()[0].query, "a query");
  EXPECT_EQ(qrels.queries()[0].judgements[0].document, "a document");
  EXPECT_EQ(qrels.queries()[0].judgements[0].grade, 0.25);
  EXPECT_THAT(warnings.Messages(), IsEmpty());
}

TEST(ReadQrels, TheSameJudgementTwiceIsCounted) {
  Warnings warnings;
  EXPECT_EQ(QrelsOf("q 0 d 1\nq 0 e 1\nq 1 d 1\n", warnings).judgement_count(), 2U);
  EXPECT_THAT(
      warnings.Messages(),
      ElementsAre("f.qrels: judgements given twice, taken once: 1 (first at line 3, id q)"));
}

TEST(ReadQrels, ConflictingJudgementsNameBothLines) {
  EXPECT_EQ(QrelsErrorOf("q 0 d 1\nr 0 d 2\nq 0 d 2\n"),
            "f.qrels:3: document d has grade 2 here and 1 in line 1; one query and document can "
            "have one grade only (id q)");
}

TEST(ReadQrels, BrokenLinesAreNamed) {
  EXPECT_EQ(QrelsErrorOf("q 0 d 1\nq 0 d\n"),
            "f.qrels:2: has 3 fields; expected 4 (query iteration document grade) or, in a BEIR "
            "file, 3 separated by tabs (`tandem import` reads tables of texts)");
  EXPECT_EQ(QrelsErrorOf("q 0 d 1 x"),
            "f.qrels:1: has 5 fields; expected 4 (query iteration document grade) or, in a BEIR "
            "file, 3 separated by tabs (`tandem import` reads tables of texts)");
  EXPECT_EQ(QrelsErrorOf("q\td\t1\nq\td\n"),
            "f.qrels:2: has 2 tab-separated fields; expected 3 (query-id corpus-id score)");
  EXPECT_EQ(QrelsErrorOf("q\t\t1\n"), "f.qrels:1: has an empty id");
  for (const char* grade : {"one", "nan", "inf", "1e999", "1x", "+-1", "0x1", "--1"}) {
    EXPECT_EQ(QrelsErrorOf(std::string("q 0 d ") + grade),
              std::string("f.qrels:1: grade \"") + grade + "\" is not a finite number (id q)");
  }
  EXPECT_EQ(QrelsErrorOf("query-id\tcorpus-id\tscore\n"), "f.qrels: holds no judgement");
  // A header is one only in the first line.
  EXPECT_EQ(QrelsErrorOf("q\td\t1\nquery-id\tcorpus-id\tscore\n"),
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
  const Qrels qrels = QrelsOf(bytes, warnings);
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
