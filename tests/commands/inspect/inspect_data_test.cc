// Data sets, training lines and judgements in `tandem inspect`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/inspect/inspect_fixture.h"

namespace tandem {
namespace {

using testing::HasSubstr;

TEST_F(InspectCommand, TrainingLines) {
  Write("t.jsonl", R"({"anchor": "q1", "positive": "a", "negative": "b", "source": "web"})"
                   "\n"
                   R"({"anchor": "q1", "positive": "a", "negative": "a"})"
                   "\n"
                   R"({"anchor": "q2", "positive": ["c", ""], "negative": "b"})"
                   "\n");
  const ProgramResult result = Inspect("t.jsonl", "json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["kind"], "training_lines");
  EXPECT_EQ(found["format"], "sentence_transformers");
  EXPECT_EQ(found["lines"], 3);
  EXPECT_EQ(found["queries"], 2);
  EXPECT_EQ(found["documents"], 4);
  EXPECT_EQ(found["exact"], true);
  EXPECT_EQ(found["positives"], 4);
  EXPECT_EQ(found["negatives"], 3);
  EXPECT_EQ(found["positives_per_line"]["highest"], 2);
  EXPECT_EQ(found["columns"][3]["column"], "source");
  EXPECT_EQ(found["columns"][3]["used"], false);
  EXPECT_EQ(found["columns"][3]["read_as"], "not read");
  EXPECT_EQ(found["columns"][0]["read_as"], "query");
  EXPECT_EQ(found["columns"][1]["read_as"], "positive");
  EXPECT_EQ(found["repeats"]["pairs"], 2);
  EXPECT_EQ(found["repeats"]["positive_and_negative"], 1);
  EXPECT_EQ(found["empty_texts"], 1);
  EXPECT_THAT(Inspect("t.jsonl").out, HasSubstr("kind                   training_lines\n"));
}

// The first lines as they were understood.
TEST_F(InspectCommand, LabelsAndGradesOfTrainingLines) {
  Write("l.jsonl", R"({"query": "q", "answer": ["n", "p"], "labels": [0, "1"]})"
                   "\n");
  const auto labels = nlohmann::json::parse(Inspect("l.jsonl", "json").out);
  EXPECT_EQ(labels["positives"], 1);
  EXPECT_EQ(labels["negatives"], 1);
  EXPECT_EQ(labels["negatives_per_line"]["highest"], 1);
  EXPECT_EQ(labels["scores"]["meaning"], "labels");
  EXPECT_EQ(labels["by_score"].dump(), R"([{"documents":1,"is":"negative","score":0.0},)"
                                       R"({"documents":1,"is":"positive","score":1.0}])");
  EXPECT_EQ(labels["first_lines"].dump(),
            R"([{"document":"n","is":"negative","line":1,"query":"q","score":0.0},)"
            R"({"document":"p","is":"positive","line":1,"query":"q","score":1.0}])");
  EXPECT_THAT(Inspect("l.jsonl").out, HasSubstr("first lines\n"
                                                "  line  query  is        document  score\n"
                                                "     1  q      negative  n           0.0\n"
                                                "     1  q      positive  p           1.0\n"));
  Write("g.jsonl", R"({"query": "q", "answer": ["p", "n"], "scores": [0.8, 0.3]})"
                   "\n");
  const ProgramResult graded = Inspect("g.jsonl", "json");
  EXPECT_EQ(graded.exit_code, 0);
  EXPECT_THAT(graded.err, HasSubstr("g.jsonl:1: \"scores\" has 0.8 for a document of a list"));
  const auto found = nlohmann::json::parse(graded.out);
  EXPECT_EQ(found["graded"], 2);
  EXPECT_EQ(found["by_score"].dump(),
            R"([{"documents":1,"score":0.3},{"documents":1,"score":0.8}])");
  EXPECT_EQ(found["positives"], 0);
  EXPECT_EQ(found["scores"]["meaning"], "undecided");
  EXPECT_EQ(found["first_lines"][1]["is"], "graded");
}

// More than 20 different scores are no labels that a person would count.
TEST_F(InspectCommand, ManyScoresAreNotCountedOneByOne) {
  std::string lines;
  for (int i = 0; i < 21; ++i) {
    lines += R"({"query": "q", "document": "d)" + std::to_string(i) + R"(", "score": 0.)" +
             std::to_string(100 + i) + "}\n";
  }
  Write("s.jsonl", lines);
  const auto found = nlohmann::json::parse(Inspect("s.jsonl", "json").out);
  EXPECT_EQ(found["scores"]["documents"], 21);
  EXPECT_FALSE(found.contains("by_score"));
}

TEST_F(InspectCommand, ColumnsOfOtherFormatsHaveRolesToo) {
  Write("f.jsonl", R"({"query": "q", "pos": ["p"], "neg": ["n"], "type": "x", "prompt": "a"})"
                   "\n");
  const auto found = nlohmann::json::parse(Inspect("f.jsonl", "json").out);
  std::vector<std::string> roles;
  for (const auto& column : found["columns"]) roles.push_back(column["read_as"]);
  EXPECT_EQ(roles, (std::vector<std::string>{"query", "positive", "negative", "not read",
                                             "prompt of queries"}));
  Write("t.jsonl", R"({"query_id": "1", "query": "q", "positive_passages": [{"docid": "d",)"
                   R"( "text": "p"}], "negative_passages": []})"
                   "\n");
  const auto passages = nlohmann::json::parse(Inspect("t.jsonl", "json").out);
  roles.clear();
  for (const auto& column : passages["columns"]) roles.push_back(column["read_as"]);
  EXPECT_EQ(roles, (std::vector<std::string>{"id of the query", "query", "positive", "negative"}));
}

TEST_F(InspectCommand, ABeirFolderAndWhatItsSplitsShare) {
  Write("beir/corpus.jsonl",
        "{\"_id\": \"d1\", \"text\": \"x\"}\n{\"_id\": \"d2\", \"text\": \"x\"}\n");
  Write("beir/queries.jsonl",
        "{\"_id\": \"q1\", \"text\": \"a\"}\n{\"_id\": \"q2\", \"text\": \"b\"}\n"
        "{\"_id\": \"q3\", \"text\": \"a\"}\n");
  Write("beir/qrels/train.tsv", "q1\td1\t1\nq2\td9\t0\n");
  Write("beir/qrels/test.tsv", "q3\td1\t2\n");
  const ProgramResult result = Inspect("beir", "json");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(
      result.err,
      "warning: " + Path("beir") +
          ": of the documents that the split train judges, 1 is not in the corpus, as when "
          "the folder holds only a part of it: training leaves these judgements out, and measures "
          "count their documents as not found, which lowers values; give the whole corpus, "
          "or take them out of qrels/train.tsv\nwarning: " +
          Path("beir") +
          ": the splits test and train share queries (0 by id, 1 by text); a model that is "
          "trained on one split has seen them when it is measured on the other\n");
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["kind"], "beir");
  EXPECT_EQ(found["corpus"]["texts"], 2);
  EXPECT_EQ(found["corpus"]["copies"], 1);
  EXPECT_EQ(found["queries"]["texts"], 3);
  EXPECT_EQ(found["splits"][1]["split"], "train");
  EXPECT_EQ(found["splits"][1]["at_0"], 1);
  EXPECT_EQ(found["splits"][1]["unknown_documents"], 1);
  EXPECT_EQ(found["splits"][0]["unknown_documents"], 0);
  EXPECT_EQ(found["grades"][0]["grade"], 2);
  EXPECT_EQ(found["shared_by_splits"][0]["queries"], 0);
  EXPECT_EQ(found["shared_by_splits"][0]["query_texts"], 1);
  EXPECT_EQ(found["shared_by_splits"][0]["relevant_documents"], 1);
  // The table of splits is too wide for a terminal: a line for each of its columns.
  EXPECT_THAT(Inspect("beir").out, HasSubstr("splits\n"
                                             "  split                  test              train\n"
                                             "  queries                1                 2\n"));
}

TEST_F(InspectCommand, SaysThatJudgedDocumentsStandInTheCorpusAsPassages) {
  Write("cut/corpus.jsonl",
        "{\"_id\": \"guide.md#1\", \"text\": \"x\"}\n{\"_id\": \"guide.md#2\", \"text\": \"y\"}\n"
        "{\"_id\": \"a#b\", \"text\": \"z\"}\n");
  Write("cut/queries.jsonl",
        "{\"_id\": \"q1\", \"text\": \"a\"}\n{\"_id\": \"q2\", \"text\": \"b\"}\n");
  Write("cut/qrels/test.tsv", "q1\tguide.md\t1\nq2\ta\t1\nq2\ta#b\t1\n");
  const ProgramResult result = Inspect("cut", "json");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(
      result.err,
      Path("cut") +
          ": of the documents that the split test judges, 1 is in the corpus as passages: "
          "measure with --by-document, which ranks documents by their best passages\nwarning: " +
          Path("cut") +
          ": of the documents that the split test judges, 1 is not in the corpus, as when "
          "the folder holds only a part of it: training leaves these judgements out, and measures "
          "count their documents as not found, which lowers values; give the whole corpus, "
          "or take them out of qrels/test.tsv\n");
  const auto found = nlohmann::json::parse(result.out);
  EXPECT_EQ(found["splits"][0]["unknown_documents"], 2);
  EXPECT_EQ(found["splits"][0]["documents_of_passages"], 1);
}

TEST_F(InspectCommand, JudgementsOfVeryManyGradesShowTheirRange) {
  std::string lines;
  for (int i = 1; i <= 40; ++i)
    lines += "q1\td" + std::to_string(i) + "\t0." + std::to_string(10 + i) + "\n";
  Write("many/corpus.jsonl", "{\"_id\": \"d1\", \"text\": \"a\"}\n");
  Write("many/queries.jsonl", "{\"_id\": \"q1\", \"text\": \"a\"}\n");
  Write("many/qrels/train.tsv", lines);
  for (const char* path : {"many", "many/qrels/train.tsv"}) {
    const ProgramResult result = Inspect(path);
    EXPECT_THAT(result.out, testing::Not(testing::ContainsRegex("grades +none")));
    EXPECT_THAT(result.out, testing::ContainsRegex("lowest grade +0.11"));
    EXPECT_THAT(result.out, testing::ContainsRegex("highest grade +0.5"));
  }
}

}  // namespace
}  // namespace tandem
