#include "data/formats/flag_embedding.h"

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReadFlagEmbeddingTest : public TrainingLinesTest<ReadFlagEmbedding> {};

TEST_F(ReadFlagEmbeddingTest, ReadsTextsScoresAndPrompts) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query": "a", "pos": ["p1", "p2"], "neg": ["n"], "pos_scores": [0.9, 1], "neg_scores": [-2.5], "prompt": "Find: ", "type": "retrieval"}
{"query": "b", "pos": ["n"], "neg": [], "pos_scores": [3], "neg_scores": null, "prompt": "Find: "}
)",
      warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p1=1/0.9@1 p2=1/1@1 n=0/-2.5@1");
  EXPECT_EQ(JudgedTexts(dataset, 1), "n=1/3@2");
  EXPECT_EQ(dataset.queries.text(1), "b");
  EXPECT_EQ(dataset.query_prompt, "Find: ");
  EXPECT_EQ(dataset.queries.id(1), "2");
  EXPECT_EQ(dataset.documents.id(1), "1:pos:2");
  EXPECT_EQ(dataset.documents.id(2), "1:neg:1");
  EXPECT_EQ(dataset.scores, ScoreKind::kLists);
  EXPECT_FALSE(dataset.has_grades);
  EXPECT_EQ(dataset.file, "f.jsonl");
  EXPECT_THAT(
      warnings.Messages(),
      ElementsAre("f.jsonl: values of keys that are not read: type (1); all together: 1 (first at "
                  "line 1)"));
}

TEST_F(ReadFlagEmbeddingTest, OnePromptAFile) {
  Warnings warnings;
  const std::string line = R"({"query": "a", "pos": ["p"], "prompt": "Find: "})";
  EXPECT_EQ(Read(R"({"query": "a", "pos": ["p"], "prompt": ""}
{"query": "a", "pos": ["p"], "prompt": null}
{"query": "a", "pos": ["p"]})",
                 warnings)
                .query_prompt,
            "");
  const std::string advice =
      "; a file has one task, since a model is saved with one query prompt: give all lines the "
      "same prompt, or split the file";
  EXPECT_EQ(ErrorOf(line + "\n" + R"({"query": "b", "pos": ["q"], "prompt": "Cite: "})"),
            "f.jsonl:2: has the prompt \"Cite: \", but line 1 has the prompt \"Find: \"" + advice);
  EXPECT_EQ(ErrorOf(line + "\n" + line + "\n" + R"({"query": "b", "pos": ["q"]})"),
            "f.jsonl:3: has no prompt, but line 1 has the prompt \"Find: \"" + advice);
}

TEST_F(ReadFlagEmbeddingTest, TheSameTextIsOneQueryAndOneDocument) {
  Warnings warnings;
  const Dataset dataset = Read(
      "\xEF\xBB\xBF{\"query\": \"a\", \"pos\": [\"p\"], \"neg\": [\"n\"]}\r\n"
      "\n"
      "{\"query\": \"a\", \"pos\": [\"n\", \"\"]}",
      warnings);
  EXPECT_EQ(dataset.queries.size(), 1U);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1@1 n=1@3 =1@3");
  EXPECT_EQ(dataset.scores, ScoreKind::kNone);
  EXPECT_THAT(warnings.Messages(),
              testing::Contains("f.jsonl: texts that are positive and negative of one query, taken "
                                "as positive: 1 (first at line 3)"));
  EXPECT_THAT(warnings.Messages(),
              testing::Contains("f.jsonl: empty texts, kept: 1 (first at line 3)"));
}

TEST_F(ReadFlagEmbeddingTest, APairWithTwoScoresKeepsTheFirst) {
  Warnings warnings;
  const Dataset dataset = Read(R"({"query": "a", "pos": ["p"], "pos_scores": [1]}
{"query": "a", "pos": ["p"], "pos_scores": [2]}
{"query": "a", "pos": ["p"]})",
                               warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/1@1");
  EXPECT_THAT(warnings.Messages(), ElementsAre("f.jsonl: pairs with two scores, the first kept: 1 "
                                               "(first at line 2)"));
}

// BiXSE: z = (1/N) sum_s s p(s).
TEST_F(ReadFlagEmbeddingTest, AJudgesProbabilitiesBecomeItsExpectedGrade) {
  Warnings warnings;
  const Dataset dataset = Read(
      R"({"query": "a", "pos": ["p"], "neg": ["n"], "pos_probabilities": [[0, 0.25, 0.25, 0.5]], "neg_probabilities": [[1, 0]]})",
      warnings);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1/0.75@1 n=0/0@1");
  EXPECT_EQ(dataset.scores, ScoreKind::kProbabilities);
  EXPECT_THAT(warnings.Messages(), IsEmpty());
}

TEST_F(ReadFlagEmbeddingTest, GzipFilesAreRead) {
  const TemporaryFolder folder;
  WriteGzip(folder.path() / "train.jsonl.gz", R"({"query": "a", "pos": ["p"]})");
  EXPECT_EQ(ReadFlagEmbedding(folder.path() / "train.jsonl.gz").documents.text(0), "p");
}

TEST_F(ReadFlagEmbeddingTest, BrokenLinesAreNamed) {
  EXPECT_EQ(ErrorOf(R"({"pos": ["p"]})"), "f.jsonl:1: has no \"query\"");
  EXPECT_EQ(ErrorOf("\n{\"query\": \"a\"}"), "f.jsonl:2: has no \"pos\"");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": null})"), "f.jsonl:1: has no \"pos\"");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": []})"), "f.jsonl:1: \"pos\" is an empty list");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": "p"})"),
            "f.jsonl:1: \"pos\" is a string; expected a list of strings");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": ["p"], "neg": [1]})"),
            "f.jsonl:1: \"neg\" is a list of numbers; expected a list of strings");
  EXPECT_EQ(ErrorOf(R"({"query": 7, "pos": ["p"]})"),
            "f.jsonl:1: \"query\" is an integer; expected a string");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": ["p"], "prompt": 1})"),
            "f.jsonl:1: \"prompt\" is an integer; expected a string");
  EXPECT_THAT(ErrorOf("{"), HasSubstr("f.jsonl:1: is not valid JSON"));
  EXPECT_EQ(ErrorOf(""), "f.jsonl: holds no example");
}

TEST_F(ReadFlagEmbeddingTest, BrokenScoresAreNamed) {
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": ["p"], "pos_scores": [1, 2]})"),
            "f.jsonl:1: \"pos_scores\" has 2 entries for 1 documents");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": ["p"], "neg_scores": [1]})"),
            "f.jsonl:1: \"neg_scores\" has 1 entries for 0 documents");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": ["p"], "pos_scores": 1})"),
            "f.jsonl:1: \"pos_scores\" is an integer; expected a list of numbers");
  EXPECT_EQ(
      ErrorOf(R"({"query": "a", "pos": ["p"], "pos_probabilities": [[0.5, 0.2]]})"),
      "f.jsonl:1: \"pos_probabilities\" has probabilities that sum to 0.7; expected 1: divide "
      "them by their sum");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "pos": ["p"], "pos_probabilities": [[1.5, -0.5]]})"),
            "f.jsonl:1: \"pos_probabilities\" has the probability 1.5; expected 0 to 1");
  EXPECT_EQ(
      ErrorOf(R"({"query": "a", "pos": ["p"], "pos_probabilities": [[1]]})"),
      "f.jsonl:1: \"pos_probabilities\" has 1 probabilities; a judge with the grades 0..N has "
      "N + 1, at least two");
  EXPECT_EQ(
      ErrorOf(R"({"query": "a", "pos": ["p"], "pos_scores": [1], "pos_probabilities": [[1, 0]]})"),
      "f.jsonl:1: has a judge's probabilities, where earlier lines have a score for each "
      "document; a file can have one of them only");
}

}  // namespace
}  // namespace tandem::data
