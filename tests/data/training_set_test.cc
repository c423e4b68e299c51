#include "data/training_set.h"

#include <cmath>

#include "base/hashes/text_hash.h"
#include "data/data_test.h"
#include "data/formats/beir.h"
#include "data/formats/sentence_transformers.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Dataset Graded() {
  BeirFolder folder;
  folder.Write("qrels/test.tsv", "q2\td1\t1\nq2\td2\t2\nq2\td3\t0\nq1\td3\t1\nq1\td1\t-1\n");
  Dataset dataset = LoadBeir(folder.path(), "test");
  dataset.file = "qrels.tsv";
  return dataset;
}

TEST(BuildTrainingSet, SplitsAtThePositiveGrade) {
  Warnings warnings;
  const TrainingSet set = BuildTrainingSet(Graded(), 2, &warnings);
  ASSERT_EQ(set.examples.size(), 1U);
  const TrainingQuery& query = set.examples[0];
  EXPECT_EQ(set.queries.id(query.query), "q2");
  ASSERT_EQ(query.positives.size(), 1U);
  EXPECT_EQ(set.documents.id(query.positives[0].document), "d2");
  EXPECT_EQ(query.positives[0].grade, 2);
  ASSERT_EQ(query.others.size(), 2U);
  EXPECT_EQ(query.others[0].grade, 1);
  EXPECT_EQ(query.others[1].grade, 0);
  EXPECT_TRUE(IsRelevant(query, *set.documents.Find("d1")));   // grade 1: masked
  EXPECT_TRUE(IsRelevant(query, *set.documents.Find("d2")));   // the positive
  EXPECT_FALSE(IsRelevant(query, *set.documents.Find("d3")));  // grade 0: a negative
  EXPECT_EQ(set.queries_without_positive, 1U);
  EXPECT_EQ(set.pair_count, 1U);
  EXPECT_THAT(
      warnings.Messages(),
      ElementsAre("queries without a document of grade 2 or more, left out: 1 (first at id q1)"));
}

TEST(BuildTrainingSet, GradeOneTakesAll) {
  Warnings warnings;
  const TrainingSet set = BuildTrainingSet(Graded(), 1, &warnings);
  EXPECT_THAT(warnings.Messages(), IsEmpty());
  ASSERT_EQ(set.examples.size(), 2U);
  EXPECT_EQ(set.examples[0].positives.size(), 2U);
  EXPECT_EQ(set.pair_count, 3U);
  EXPECT_FALSE(IsRelevant(set.examples[1], *set.documents.Find("d1")));  // grade -1: not judged
  ASSERT_EQ(set.document_hashes.size(), 3U);
  EXPECT_EQ(set.document_hashes[2], TextHash("third"));
  EXPECT_EQ(set.query_hashes[1], TextHash("two"));
}

TEST(BuildTrainingSet, NoPositiveAtAllIsAnError) {
  Warnings warnings;
  EXPECT_EQ(DataErrorOf([&] { BuildTrainingSet(Graded(), 3, &warnings); }),
            "qrels.tsv: none of the 2 judged queries has a document of grade 3 or more "
            "(data.positive_grade)");
  for (const double grade : {0.0, -1.0, std::nan("")}) {
    EXPECT_THROW(BuildTrainingSet(Graded(), grade, &warnings), UsageError);
  }
}

TEST(BuildTrainingSet, APairedDocumentOfAnyGrade) {
  Warnings warnings;
  const TrainingSet set = BuildTrainingSet(Graded(), 3, PairedDocument::kAnyGrade, &warnings);
  EXPECT_THAT(warnings.Messages(), IsEmpty());
  ASSERT_EQ(set.examples.size(), 2U);
  EXPECT_TRUE(set.examples[0].positives.empty());
  EXPECT_EQ(set.examples[0].others.size(), 3U);
  Dataset none = Graded();
  none.judged.resize(1);
  none.judged[0].judgements.resize(1);
  none.judged[0].judgements[0].grade = -1;  // not judged
  EXPECT_EQ(DataErrorOf([&] {
              BuildTrainingSet(std::move(none), 3, PairedDocument::kAnyGrade, &warnings);
            }),
            "qrels.tsv: none of the 1 judged queries has a document of grade 0 or more");
}

TEST(BuildTrainingSet, TakesColumns) {
  Warnings warnings;
  LineReader reader("f", R"({"anchor": "a", "positive": "p", "negative": "n"})", warnings);
  const TrainingSet set = BuildTrainingSet(ReadColumns(reader), 1, &warnings);
  ASSERT_EQ(set.examples.size(), 1U);
  EXPECT_EQ(set.examples[0].others.size(), 1U);
}

// Known answers pin the function: hashes may be kept in files.
TEST(TextHash, IsPinnedAndSeparatesNearTexts) {
  std::vector<uint64_t> hashes;
  for (int length = 0; length < 40; ++length) {
    for (int flip = 0; flip <= length; ++flip) {
      std::string text(static_cast<size_t>(length), 'a');
      if (flip < length) text[static_cast<size_t>(flip)] = 'b';
      hashes.push_back(TextHash(text));
    }
    hashes.push_back(TextHash(std::string(static_cast<size_t>(length) + 1, '\0')));
  }
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
  EXPECT_EQ(TextHash("The quick brown fox jumps over the lazy dog"), 513838847124809868U);
}

}  // namespace
}  // namespace tandem::data
