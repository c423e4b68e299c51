#include "data/dataset_union.h"

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::HasSubstr;

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

TEST(DatasetUnion, HasOneQueryPrompt) {
  DatasetUnion all;
  Dataset first = Part("a", {"one"});
  first.query_prompt = "find: ";
  all.Add(first);
  EXPECT_NO_THROW(all.Add(first));
  EXPECT_THAT(DataErrorOf([&] { all.Add(Part("b", {"two"})); }),
              HasSubstr("b.jsonl: its queries have the prompt \"\", those of a.jsonl \"find: \""));
  EXPECT_EQ(all.Take().query_prompt, "find: ");
}

}  // namespace
}  // namespace tandem::data
