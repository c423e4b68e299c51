#include "data/formats/tevatron.h"

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReadTevatronTest : public TrainingLinesTest<ReadTevatron> {};

TEST_F(ReadTevatronTest, ReadsIdsTitlesAndScores) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query_id": "q1", "query": "a", "positive_passages": [{"docid": "d1", "title": "T", "text": "one", "score": 3}], "negative_passages": [{"docid": 2, "title": "", "text": "two"}, {"docid": "d3", "text": "three", "url": "x"}]}
{"query_id": 7, "query": "b", "positive_passages": [{"docid": "2", "title": null, "text": "two"}], "negative_passages": [], "answers": ["x"]}
{"query_id": "q1", "query": "a", "positive_passages": [{"docid": "d3", "text": "three"}]}
)",
      warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "T one=1/3@1 two=0@1 three=1@3");
  EXPECT_EQ(JudgedTexts(dataset, 1), "two=1@2");
  EXPECT_EQ(dataset.queries.id(1), "7");
  EXPECT_EQ(dataset.documents.id(1), "2");
  EXPECT_EQ(dataset.scores, ScoreKind::kLists);
  EXPECT_THAT(
      warnings.Messages(),
      ElementsAre("f.jsonl: values of keys that are not read: answers (1), negative_passages.url "
                  "(1); all together: 2 (first at line 1)",
                  "f.jsonl: texts that are positive and negative of one query, taken as positive: "
                  "1 (first at line 3)"));
}

TEST_F(ReadTevatronTest, AJudgesProbabilitiesBecomeItsExpectedGrade) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query_id": "q", "query": "a", "positive_passages": [{"docid": "d", "text": "x", "probabilities": [0.5, 0, 0.5]}]})",
      warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "x=1/0.5@1");
  EXPECT_THAT(warnings.Messages(), IsEmpty());
}

TEST_F(ReadTevatronTest, GzipFilesAreRead) {
  const TemporaryFolder folder;
  WriteGzip(
      folder.path() / "train.jsonl.gz",
      R"({"query_id": "q", "query": "a", "positive_passages": [{"docid": "d", "text": "p"}]})");
  EXPECT_EQ(ReadTevatron(folder.path() / "train.jsonl.gz").documents.text(0), "p");
}

TEST_F(ReadTevatronTest, BrokenLinesAreNamed) {
  const auto passages = [](std::string_view list) {
    return fmt::format(R"({{"query_id": "q", "query": "a", "positive_passages": {}}})", list);
  };
  EXPECT_EQ(ErrorOf(R"({"query_id": 1.5, "query": "a"})"),
            "f.jsonl:1: \"query_id\" is a number; expected a string");
  EXPECT_EQ(ErrorOf(R"({"query_id": "q"})"), "f.jsonl:1: has no \"query\" (id q)");
  EXPECT_EQ(ErrorOf(R"({"query_id": "q", "query": ["a"]})"),
            "f.jsonl:1: \"query\" is a list of strings; expected a string (id q)");
  EXPECT_EQ(ErrorOf(R"({"query_id": "q", "query": "a"})"),
            "f.jsonl:1: has no \"positive_passages\" (id q)");
  EXPECT_EQ(ErrorOf(passages("[]")), "f.jsonl:1: has no \"positive_passages\" (id q)");
  EXPECT_EQ(ErrorOf(passages(R"(["d"])")),
            "f.jsonl:1: \"positive_passages\" is a list of strings; expected a list of {\"docid\", "
            "\"title\", \"text\"}");
  EXPECT_EQ(ErrorOf(passages(R"([{"docid": "a\tb", "text": "x"}])")),
            "f.jsonl:1: \"docid\" contains a control character");
  EXPECT_EQ(ErrorOf(passages(R"([{"docid": "", "text": "x"}])")), "f.jsonl:1: \"docid\" is empty");
  EXPECT_EQ(ErrorOf(passages(R"([{"docid": "d"}])")), "f.jsonl:1: has no \"text\" (id d)");
  EXPECT_EQ(ErrorOf(passages(R"([{"docid": "d", "text": "x", "score": [1]}])")),
            "f.jsonl:1: \"score\" is a list of numbers; expected a number (id d)");
  EXPECT_EQ(ErrorOf(passages(R"([{"docid": "d", "text": "x", "probabilities": 1}])")),
            "f.jsonl:1: \"probabilities\" is an integer; expected a list of numbers (id d)");
  EXPECT_EQ(ErrorOf(passages(R"([{"docid": "d", "text": "x"}, {"docid": "d", "text": "y"}])")),
            "f.jsonl:1: document has another text here than in an earlier line; an id can have one "
            "text only. Where ids count within a line, data.ids = \"text\" in a recipe (--ids text "
            "elsewhere) goes by the texts (id d)");
  EXPECT_THAT(ErrorOf("{"), HasSubstr("f.jsonl:1: is not valid JSON"));
  EXPECT_EQ(ErrorOf(""), "f.jsonl: holds no example");
}

}  // namespace
}  // namespace tandem::data
