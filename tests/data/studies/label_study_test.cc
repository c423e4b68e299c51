#include "data/studies/label_study.h"

#include <map>
#include <numeric>
#include <set>

#include "data/data_test.h"

namespace tandem::data {
namespace {

constexpr double kGrades[] = {1, 0.75, 0.25, 0};

// Query q has document 5q of grade 1, 5q + 1 of 0.75, 5q + 2 of 0.25, 5q + 3 of 0, and
// document 5q + 4 is a copy of the first.
TrainingSet Graded(uint32_t queries, PairedDocument own) {
  Dataset dataset;
  for (uint32_t q = 0; q < queries; ++q) {
    dataset.queries.Add(fmt::format("q{}", q), fmt::format("query {}", q));
    JudgedQuery judged{.query = q, .judgements = {}};
    for (uint32_t d = 0; d < 4; ++d) {
      dataset.documents.Add(fmt::format("d{}.{}", q, d), fmt::format("document {}.{}", q, d));
      judged.judgements.push_back({.document = 5 * q + d, .grade = kGrades[d]});
    }
    dataset.documents.Add(fmt::format("copy{}", q), fmt::format("document {}.0", q));
    dataset.judged.push_back(judged);
  }
  Warnings warnings;
  return BuildTrainingSet(std::move(dataset), 0.75, own, &warnings);
}

std::vector<uint32_t> All(const TrainingSet& set) {
  std::vector<uint32_t> all(set.examples.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

size_t Labels(const TrainingSet& set) {
  size_t labels = 0;
  for (const TrainingQuery& query : set.examples) {
    labels += query.positives.size() + query.others.size();
  }
  return labels;
}

TEST(CutGrades, LeavesOutWhatIsBelowButStillKnowsIt) {
  TrainingSet set = Graded(3, PairedDocument::kPositive);
  const auto left = CutGrades(set, std::vector<uint32_t>{0, 2}, 0.8, CutOff::kBest, 1);
  EXPECT_EQ(left, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(set.examples[0].positives.size(), 1U);
  EXPECT_EQ(set.examples[0].others.size(), 0U);
  EXPECT_EQ(set.examples[0].unused.size(), 3U);
  EXPECT_TRUE(IsRelevant(set.examples[0], 1));   // 0.75: left out, no negative
  EXPECT_TRUE(IsRelevant(set.examples[0], 2));   // 0.25
  EXPECT_FALSE(IsRelevant(set.examples[0], 3));  // judged irrelevant
  EXPECT_EQ(set.examples[1].unused.size(), 0U);  // the study did not take this query
}

TEST(CutGrades, AQueryWithoutPairedDocumentGoes) {
  TrainingSet positive = Graded(2, PairedDocument::kPositive);
  for (Judgement& judgement : positive.examples[0].positives) judgement.grade = 0.75;
  EXPECT_EQ(CutGrades(positive, All(positive), 0.8, CutOff::kBest, 1), (std::vector<uint32_t>{1}));
  TrainingSet any = Graded(2, PairedDocument::kAnyGrade);
  any.examples[0].positives.clear();
  EXPECT_EQ(CutGrades(any, All(any), 0.2, CutOff::kBest, 1), (std::vector<uint32_t>{0, 1}));
}

TEST(CutGrades, TheControlKeepsAsManyAtRandom) {
  TrainingSet best = Graded(200, PairedDocument::kAnyGrade);
  TrainingSet random = Graded(200, PairedDocument::kAnyGrade);
  TrainingSet again = Graded(200, PairedDocument::kAnyGrade);
  CutGrades(best, All(best), 0.5, CutOff::kBest, 1);
  const auto left = CutGrades(random, All(random), 0.5, CutOff::kRandom, 1);
  EXPECT_EQ(CutGrades(again, All(again), 0.5, CutOff::kRandom, 1), left);
  EXPECT_EQ(Labels(best), 400U);
  EXPECT_EQ(Labels(random), 400U);
  size_t irrelevant = 0;  // a quarter of all labels, so about 100 of 400 (deviation 6)
  for (const TrainingQuery& query : random.examples) {
    for (const Judgement& judgement : query.others) irrelevant += judgement.grade == 0;
  }
  EXPECT_NEAR(static_cast<double>(irrelevant), 100, 30);
  EXPECT_LT(left.size(), 200U);  // 1 of 16 queries loses all four
  EXPECT_GT(left.size(), 170U);
}

TEST(Binarize, PositivesAreOneAndTheOthersZero) {
  TrainingSet set = Graded(2, PairedDocument::kPositive);
  set.examples[0].others[0].grade = -1;  // not judged
  CutGrades(set, std::vector<uint32_t>{1}, 0.8, CutOff::kBest, 1);
  Binarize(set);
  EXPECT_EQ(set.positive_grade, 1);
  for (const Judgement& judgement : set.examples[0].positives) EXPECT_EQ(judgement.grade, 1);
  EXPECT_EQ(set.examples[0].others[0].grade, -1);
  EXPECT_EQ(set.examples[0].others[1].grade, 0);
  EXPECT_TRUE(IsRelevant(set.examples[1], 6));   // 0.75: left out, still relevant
  EXPECT_FALSE(IsRelevant(set.examples[1], 7));  // 0.25: irrelevant now
}

TEST(FlipLabels, FlipsTheShareAskedForAndMovesLostPositives) {
  TrainingSet set = Graded(500, PairedDocument::kPositive);
  const FlippedLabels flips = FlipLabels(set, All(set), 0.3, 1);
  EXPECT_EQ(flips.labels, 2000U);
  EXPECT_NEAR(static_cast<double>(flips.flipped), 600, 80);  // deviation 20
  size_t changed = 0, added = 0;
  for (uint32_t q = 0; q < 500; ++q) {
    const TrainingQuery& query = set.examples[q];
    EXPECT_FALSE(query.positives.empty());
    std::set<uint32_t> seen;
    size_t lost = 0, strangers = 0;
    for (const auto* list : {&query.positives, &query.others}) {
      for (const Judgement& judgement : *list) {
        EXPECT_TRUE(seen.insert(judgement.document).second);
        EXPECT_EQ(judgement.grade >= 0.75, list == &query.positives);
        const uint32_t place = judgement.document - 5 * q;  // huge for documents before the query's
        EXPECT_NE(place, 4U) << "a copy of a judged document";
        if (place >= 4) {
          EXPECT_GE(judgement.grade, 0.75);
          ++strangers;
          continue;
        }
        const double before = kGrades[place];
        EXPECT_TRUE(judgement.grade == before || judgement.grade == 1 - before);
        changed += judgement.grade != before;
        lost += before >= 0.75 && judgement.grade != before;
      }
    }
    EXPECT_EQ(strangers, lost);
    added += strangers;
  }
  EXPECT_EQ(changed, flips.flipped);
  EXPECT_GT(added, 200U);
}

TEST(FlipLabels, TheEndsOfTheScaleAndTheSeed) {
  TrainingSet none = Graded(20, PairedDocument::kPositive);
  EXPECT_EQ(FlipLabels(none, All(none), 0, 1).flipped, 0U);
  TrainingSet all = Graded(20, PairedDocument::kPositive);
  EXPECT_EQ(FlipLabels(all, All(all), 1, 1).flipped, 80U);
  std::map<uint64_t, std::vector<uint32_t>> documents;
  for (const uint64_t seed : {1, 2}) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      TrainingSet set = Graded(20, PairedDocument::kPositive);
      FlipLabels(set, All(set), 0.5, seed);
      std::vector<uint32_t> positives;
      for (const TrainingQuery& query : set.examples) {
        for (const Judgement& judgement : query.positives) positives.push_back(judgement.document);
      }
      if (repeat == 0) documents[seed] = positives;
      EXPECT_EQ(documents[seed], positives);
    }
  }
  EXPECT_NE(documents[1], documents[2]);
}

}  // namespace
}  // namespace tandem::data
