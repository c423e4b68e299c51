#include "search/mining/mining_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "search/mining_data.h"

namespace tandem::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Queries a and c have one text; documents d1 and d3 have one text.
data::TrainingSet Copies() {
  return TinySet({{"a", "one"}, {"b", "two"}, {"c", "one"}},
                 {{"d0", "p"}, {"d1", "q"}, {"d2", "r"}, {"d3", "q"}, {"d4", "s"}, {"d5", "t"}},
                 {{"a", "d0", 2},
                  {"a", "d1", 0},
                  {"a", "d4", 0},
                  {"b", "d2", 3},
                  {"b", "d0", 1},
                  {"b", "d5", -1},
                  {"c", "d3", 2},
                  {"c", "d5", 1}});
}

TEST(MiningTask, CopiesOfTextsAreOne) {
  const MiningTask task = MakeMiningTask(Copies());
  EXPECT_THAT(task.document_of, ElementsAre(0, 1, 2, 4, 5));
  EXPECT_THAT(task.row_of_document, ElementsAre(0, 1, 2, 1, 3, 4));
  EXPECT_THAT(task.query_of, ElementsAre(0, 1));
  EXPECT_THAT(task.row_of_example, ElementsAre(0, 1, 0));
}

// What is relevant for one query with a text is so for all, and so are its copies; what was judged
// 0 and is a copy of a positive is no irrelevant document.
TEST(MiningTask, KnowsWhatIsRelevantByText) {
  const MiningTask task = MakeMiningTask(Copies());
  EXPECT_THAT(task.positives[0], ElementsAre(0, 1));
  EXPECT_THAT(task.relevant[0], ElementsAre(0, 1, 4));
  EXPECT_THAT(task.irrelevant[0], ElementsAre(3));
  EXPECT_THAT(task.positives[1], ElementsAre(2));
  EXPECT_THAT(task.relevant[1], ElementsAre(0, 2));
  EXPECT_THAT(task.irrelevant[1], IsEmpty());
  EXPECT_EQ(task.positives.start(1), 2U);
  EXPECT_EQ(task.positives.values(), 3U);
}

TEST(MiningTask, DocumentsThatAStudyLeftOutStayRelevant) {
  data::TrainingSet set = Copies();
  set.examples[1].unused = {{.document = 4, .grade = 2}};
  EXPECT_THAT(MakeMiningTask(set).relevant[1], ElementsAre(0, 2, 3));
}

// Document d2 reads as query b, which nobody judged for it; d1 reads as query a, whose positive it
// is; d3 has the id of query c and other words.
TEST(MiningTask, NeverTheQuerysOwnTextAndItsIdWhereAsked) {
  const data::TrainingSet set =
      TinySet({{"a", "one"}, {"b", "two"}, {"c", "three"}},
              {{"d0", "p"}, {"d1", "one"}, {"d2", "two"}, {"c", "Three!"}},
              {{"a", "d1", 2}, {"b", "d0", 2}, {"b", "d2", 0}, {"c", "d0", 2}});
  const MiningTask task = MakeMiningTask(set);
  EXPECT_THAT(task.relevant[0], ElementsAre(1));
  EXPECT_THAT(task.relevant[1], ElementsAre(0, 2));
  EXPECT_THAT(task.irrelevant[1], IsEmpty());
  EXPECT_THAT(task.relevant[2], ElementsAre(0));
  EXPECT_THAT(task.positives[1], ElementsAre(0));
  EXPECT_EQ(task.own_texts, 1U);
  EXPECT_EQ(task.identical_ids, 1U);
  EXPECT_THAT(MakeMiningTask(set, {.identical_ids = true}).relevant[2], ElementsAre(0, 3));
  const MiningTask before = MakeMiningTask(set, {.own_text = false});
  EXPECT_THAT(before.relevant[1], ElementsAre(0));
  EXPECT_THAT(before.irrelevant[1], ElementsAre(2));
}

// Rows are those of the examples that are asked for; what is known comes from all.
TEST(MiningTask, OfSomeExamples) {
  const std::vector<uint32_t> which = {2, 1};
  const MiningTask task = MakeMiningTask(Copies(), which);
  EXPECT_THAT(task.query_of, ElementsAre(2, 1));
  EXPECT_THAT(task.row_of_example, ElementsAre(0, 1));
  EXPECT_THAT(task.relevant[0], ElementsAre(0, 1, 4));
  EXPECT_THAT(task.relevant[1], ElementsAre(0, 2));
  const std::vector<uint32_t> one = {1};
  EXPECT_EQ(MakeMiningTask(Copies(), one).relevant.size(), 1U);
}

TEST(MiningTask, OneTextIsNoCorpus) {
  const data::TrainingSet set =
      TinySet({{"a", "one"}}, {{"d0", "p"}, {"d1", "p"}}, {{"a", "d0", 2}});
  EXPECT_THROW(MakeMiningTask(set), DataError);
}

}  // namespace
}  // namespace tandem::search
