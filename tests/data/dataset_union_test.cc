#include "data/dataset_union.h"

#include "data/data_test.h"
#include "data/training_set.h"

namespace tandem::data {
namespace {

// Query "q" with the texts of `documents`, the first a positive.
Dataset Part(const std::string& query, const std::vector<std::string>& documents) {
  Dataset part{.file = query + ".jsonl"};
  part.queries.Add("unused", "nobody judged it");
  part.queries.Add("q", query);
  part.judged.push_back({1, {}});
  for (uint32_t i = 0; i < documents.size(); ++i) {
    part.documents.Add(fmt::format("d{}", i), documents[i], i == 1 ? 1 : 0);
    part.judged[0].judgements.push_back({.document = i, .grade = i == 0 ? 1.0 : 0.0, .line = 7});
  }
  return part;
}

TEST(DatasetUnion, KeepsEqualIdsAndTextsOfDifferentPartsApart) {
  DatasetUnion all;
  all.Add(Part("a", {"one", "T two"}));
  Dataset second = Part("b", {"three", "T two", "four"});
  second.scores = ScoreKind::kLists;
  second.has_grades = true;
  all.Add(std::move(second));
  const Dataset dataset = all.Take();
  ASSERT_EQ(dataset.documents.size(), 5U);
  ASSERT_EQ(dataset.queries.size(), 4U);
  EXPECT_EQ(dataset.documents.id(1), "1:d1");
  EXPECT_EQ(dataset.documents.id(3), "2:d1");
  EXPECT_EQ(dataset.documents.title(3), "T");
  EXPECT_EQ(dataset.queries.id(3), "2:q");
  ASSERT_EQ(dataset.judged.size(), 2U);
  EXPECT_EQ(dataset.queries.text(dataset.judged[0].query), "a");
  EXPECT_EQ(dataset.queries.text(dataset.judged[1].query), "b");
  EXPECT_EQ(JudgedTexts(dataset, 0), "one=1@7 T two=0@7");
  EXPECT_EQ(JudgedTexts(dataset, 1), "three=1@7 T two=0@7 four=0@7");
  EXPECT_EQ(dataset.file, "a.jsonl");
  EXPECT_TRUE(dataset.has_grades);
  EXPECT_EQ(dataset.scores, ScoreKind::kLists);
}

TEST(DatasetUnion, HasAQueryPromptThatIsTheSameInAll) {
  DatasetUnion all;
  Dataset first = Part("a", {"one"});
  first.query_prompt = "find: ";
  all.Add(first);
  all.Add(first);
  EXPECT_EQ(all.Take().query_prompt, "find: ");
  all.Add(first);
  all.Add(Part("b", {"two"}));
  all.Add(first);
  EXPECT_EQ(all.Take().query_prompt, "");
}

TEST(DatasetUnion, KnowsWhereItsPartsAre) {
  DatasetUnion all;
  all.Add(Part("a", {"one"}));
  all.Add(Part("b", {"two", "T three"}));
  ASSERT_EQ(all.parts().size(), 2);
  EXPECT_EQ(all.parts()[1].first_query, 2);
  EXPECT_EQ(all.parts()[1].first_document, 1);
  EXPECT_EQ(all.parts()[1].documents, 2);
  const Dataset dataset = all.Take();
  EXPECT_EQ(dataset.judged[0].source, 0);
  EXPECT_EQ(dataset.judged[1].source, 1);
  EXPECT_EQ(BuildTrainingSet(dataset, 1).examples[1].source, 1);
}

TEST(DatasetUnion, TwoSplitsOfOneDataSetShareItsTexts) {
  DatasetUnion all;
  all.Add(Part("b", {"zero"}));
  all.Add(Part("a", {"one", "T two"}));
  all.Add(Part("a", {"one", "T two"}), 1);
  all.Add(Part("a", {"one", "T other"}), 1);  // not the same texts after all
  EXPECT_TRUE(all.shares(2));
  EXPECT_FALSE(all.shares(3));
  EXPECT_EQ(all.parts()[2].first_document, 1);
  EXPECT_EQ(all.parts()[3].first_document, 3);
  const Dataset dataset = all.Take();
  EXPECT_EQ(dataset.documents.size(), 5);
  EXPECT_EQ(dataset.queries.size(), 6);
  EXPECT_EQ(dataset.documents.id(4), "4:d1");
  ASSERT_EQ(dataset.judged.size(), 4);
  EXPECT_EQ(JudgedTexts(dataset, 2), "one=1@7 T two=0@7");
  EXPECT_EQ(dataset.judged[2].query, dataset.judged[1].query);
  EXPECT_EQ(dataset.judged[2].source, 2);
  EXPECT_EQ(JudgedTexts(dataset, 3), "one=1@7 T other=0@7");
}

}  // namespace
}  // namespace tandem::data
