// Keys that nobody reads: which are passed over, and which look like something.
#include "data/lines/key_roles.h"

#include "data/data_test.h"
#include "data/formats/flag_embedding.h"
#include "data/formats/sentence_transformers.h"
#include "data/formats/tevatron.h"

namespace tandem::data {
namespace {

std::string Look(std::string_view key, bool columns = true) {
  const std::optional<KeyLook> look = LookOfKey(key, columns);
  if (!look) return "";
  constexpr std::string_view kNames[] = {"query", "positive", "negative",
                                         "score", "feedback", "clicks"};
  return std::string(kNames[static_cast<int>(look->role)]) + (look->describes ? ", described" : "");
}

TEST(LookOfKey, NamesOfTextsAndScores) {
  for (const char* key :
       {"negatives", "hard_negative", "hard_negatives", "negative1", "neg", "hard_neg", "Negatives",
        "hard_negative_passages", "hardNegatives", "negitive", "neg_2", "negative-1",
        "negative_ctxs", "distractors", "irrelevant_docs", "hardnegatives"}) {
    EXPECT_EQ(Look(key), "negative") << key;
  }
  for (const char* key : {"postive", "positives", "positive_2", "pos", "answers", "anwser",
                          "documents", "sentence3", "hypotesis"}) {
    EXPECT_EQ(Look(key), "positive") << key;
  }
  for (const char* key : {"querry", "queries", "anchors", "question1", "premises"}) {
    EXPECT_EQ(Look(key), "query") << key;
  }
  for (const char* key :
       {"similarity_score", "scroe", "lable", "Label", "gold_label", "relevance", "neg_scores",
        "is_relevant", "is_duplicate", "margin", "ce_score", "simscores"}) {
    EXPECT_EQ(Look(key), "score") << key;
  }
  for (const char* key : {"feedback", "user_feedback", "thumbs_up", "vote", "votes", "upvotes",
                          "helpful", "is_helpful", "verdict", "is_accepted", "helpful_votes"}) {
    EXPECT_EQ(Look(key), "feedback") << key;
  }
  for (const char* key : {"clicks", "num_clicks", "clicked", "impressions"}) {
    EXPECT_EQ(Look(key), "clicks") << key;
  }
}

TEST(LookOfKey, NamesThatSayNothing) {
  for (const char* key : {"id",          "idx",     "source",       "title",    "type",
                          "lang",        "task",    "dataset",      "url",      "store",
                          "scope",       "grape",   "kind",         "query_id", "question_type",
                          "document_id", "context", "text",         "",         "_",
                          "7",           "prompt",  "expression",   "notes",    "thumb",
                          "thumb_url",   "correct", "selected_text"}) {
    EXPECT_EQ(Look(key), "") << key;
  }
  EXPECT_EQ(Look("negative_ids"), "negative, described");
  EXPECT_EQ(Look("label_text"), "score, described");
  EXPECT_EQ(Look("positive_id"), "positive, described");
  EXPECT_EQ(Look("answers", /*columns=*/false), "");
}

class KeysOfColumns : public TrainingLinesTest<ReadColumns> {};
class KeysOfFlagEmbedding : public TrainingLinesTest<ReadFlagEmbedding> {};
class KeysOfTevatron : public TrainingLinesTest<ReadTevatron> {};

TEST_F(KeysOfColumns, ALookAlikeIsAnErrorThatSaysWhatToDo) {
  EXPECT_EQ(ErrorOf(R"({"query": "a", "positive": "p"}
{"query": "a", "positive": "p", "hard_negatives": ["n"]})"),
            "f.jsonl:2: \"hard_negatives\" looks like negatives, which this format has in "
            "\"negative\", \"negative_1\", \"negative_2\", ...: rename it, or pass over it by "
            "data.ignore_columns = [\"hard_negatives\"] in a recipe, --ignore-columns "
            "hard_negatives elsewhere");
  EXPECT_EQ(ErrorOf(R"({"query": "a", "postive": "p"})"),
            "f.jsonl:1: \"postive\" looks like a positive, which this format has in \"positive\", "
            "\"document\", \"answer\", \"sentence2\" or \"hypothesis\": rename it, or pass over it "
            "by data.ignore_columns = [\"postive\"] in a recipe, --ignore-columns postive "
            "elsewhere");
  EXPECT_THAT(ErrorOf(R"({"query": "a", "positive": "p", "similarity_score": 0.1})"),
              testing::HasSubstr("\"similarity_score\" looks like labels or scores"));
  EXPECT_EQ(ErrorOf(R"({"query": "a", "positive": "p", "clicks": 3})"),
            "f.jsonl:1: \"clicks\" looks like clicks, and without it the document is a positive: "
            "`tandem import --clicks clicks` makes grades of it; to pass over it, "
            "data.ignore_columns = [\"clicks\"] in a recipe, --ignore-columns clicks elsewhere");
  EXPECT_THAT(ErrorOf(R"({"query": "a", "positive": "p", "feedback": "down"})"),
              testing::HasSubstr("\"feedback\" looks like feedback, and without it the document is "
                                 "a positive: `tandem import --label feedback` makes"));
  // Beside what says how good a document is they decide nothing.
  for (const char* line : {R"({"query": "a", "positive": "p", "clicks": 3, "score": 0.5})",
                           R"({"query": "a", "positive": "p", "negative": "n", "clicks": 3})",
                           R"({"query": "a", "positive": "p", "feedback": "up", "score": 0.5})",
                           R"({"query": "a", "positive": "p", "feedback_comment": "thanks"})"}) {
    EXPECT_EQ(Read(line).queries.size(), 1U) << line;
  }
  // Null is as if the key were absent, on this line alone.
  EXPECT_EQ(
      Read(R"({"query": "a", "positive": "p", "feedback": null, "clicks": null, "negs": null})")
          .queries.size(),
      1U);
  EXPECT_THAT(ErrorOf("{\"query\": \"a\", \"positive\": \"p\", \"feedback\": null}\n"
                      "{\"query\": \"b\", \"positive\": \"p\", \"feedback\": \"down\"}"),
              testing::StartsWith("f.jsonl:2: \"feedback\" looks like feedback"));
  EXPECT_THAT(ErrorOf(R"({"quesion": "a", "positive": "p"})"),
              testing::HasSubstr("\"quesion\" looks like a query"));
  // Ids of negatives say something only beside the negatives.
  EXPECT_THAT(ErrorOf(R"({"query": "a", "positive": "p", "negative_ids": [1]})"),
              testing::HasSubstr("\"negative_ids\" looks like negatives"));
  EXPECT_EQ(Read(R"({"query": "a", "positive": "p", "negative": "n", "negative_ids": [1]})")
                .documents.size(),
            2U);
}

TEST_F(KeysOfColumns, WhatIsPassedOverIsNamedWithItsCount) {
  Warnings warnings;
  const LineRules rules{.ignored = {"neg", "score"}};
  const Dataset dataset = Read(R"({"query": "a", "positive": "p", "neg": ["n"], "id": 1}
{"query": "b", "positive": "q", "source": "web", "id": 2, "score": "high"})",
                               warnings, rules);
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1@1");
  EXPECT_EQ(dataset.meaning, ScoreMeaning::kNone);
  EXPECT_THAT(warnings.Messages(),
              testing::ElementsAre("f.jsonl: values of keys that are not read: id (2), source (1); "
                                   "all together: 3 (first at line 1)"));
}

TEST_F(KeysOfFlagEmbedding, ALookAlikeIsAnError) {
  EXPECT_THAT(ErrorOf(R"({"query": "a", "pos": ["p"], "negatives": ["n"]})"),
              testing::HasSubstr("\"negatives\" looks like negatives, which this format has in "
                                 "\"neg\""));
  EXPECT_THAT(ErrorOf(R"({"query": "a", "pos": ["p"], "pos_score": [1]})"),
              testing::HasSubstr("\"pos_score\" looks like labels or scores"));
  const Dataset dataset =
      Read(R"({"query": "a", "pos": ["p"], "neg": ["n"], "pos_id": [1], "neg_id": [2]})");
  EXPECT_EQ(JudgedTexts(dataset, 0), "p=1@1 n=0@1");
}

TEST_F(KeysOfTevatron, ALookAlikeIsAnErrorInPassagesToo) {
  EXPECT_THAT(ErrorOf(R"({"query_id": 1, "query": "a", "positive_passages": [{"docid": 1, )"
                      R"("text": "p"}], "hard_negative_passages": []})"),
              testing::HasSubstr("\"hard_negative_passages\" looks like negatives"));
  EXPECT_THAT(ErrorOf(R"({"query_id": 1, "query": "a", "positive_passages": [{"docid": 1, )"
                      R"("text": "p", "relevance": 0}]})"),
              testing::HasSubstr("\"relevance\" of \"positive_passages\" looks like labels or "
                                 "scores, which this format has in \"score\" and "
                                 "\"probabilities\" of passages"));
}

}  // namespace
}  // namespace tandem::data
