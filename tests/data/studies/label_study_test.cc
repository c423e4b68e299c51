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

// The documents of one query by grade.
std::map<uint32_t, double> GradesOf(const TrainingQuery& query) {
  std::map<uint32_t, double> grades;
  for (const auto* list : {&query.positives, &query.others}) {
    for (const Judgement& judgement : *list) {
      EXPECT_TRUE(grades.emplace(judgement.document, judgement.grade).second);
      EXPECT_EQ(judgement.grade >= 0.75, list == &query.positives);
    }
  }
  return grades;
}

// Every query has two positives and one negative, so that 1 - (1 - p)^2 of the queries exchange.
TEST(SwapLabels, ExchangesTheShareAskedForWithinAQuery) {
  TrainingSet set = Graded(500, PairedDocument::kPositive);
  const SwappedLabels swaps = SwapLabels(set, All(set), 0.3, 1);
  EXPECT_EQ(swaps.pairs, 1000U);
  EXPECT_EQ(swaps.without_negatives, 0U);
  EXPECT_EQ(swaps.with_both, 500U);
  EXPECT_NEAR(static_cast<double>(swaps.swapped), 255, 45);  // deviation 11
  size_t exchanged = 0, first = 0;
  for (uint32_t q = 0; q < 500; ++q) {
    const std::map<uint32_t, double> grades = GradesOf(set.examples[q]);
    ASSERT_EQ(grades.size(), 4U);
    EXPECT_EQ(grades.at(5 * q + 2), 0.25) << "neither a positive nor a negative";
    const double negative = grades.at(5 * q + 3);
    if (negative == 0) {
      EXPECT_EQ(grades.at(5 * q), 1);
      EXPECT_EQ(grades.at(5 * q + 1), 0.75);
      continue;
    }
    ++exchanged;
    first += negative == 1;
    EXPECT_EQ(grades.at(negative == 1 ? 5 * q : 5 * q + 1), 0);
    EXPECT_EQ(grades.at(negative == 1 ? 5 * q + 1 : 5 * q), negative == 1 ? 0.75 : 1);
  }
  EXPECT_EQ(exchanged, swaps.swapped);
  EXPECT_NEAR(static_cast<double>(swaps.none_left), 500 * 0.3 * 0.3, 35);  // both were drawn
  EXPECT_GT(first, exchanged / 3);
  EXPECT_LT(first, exchanged);
}

TEST(SwapLabels, TheNegativeIsDrawnAndNoneIsTakenTwice) {
  TrainingSet set = Graded(300, PairedDocument::kPositive);
  for (TrainingQuery& query : set.examples) query.others[0].grade = 0;  // two negatives
  const SwappedLabels swaps = SwapLabels(set, All(set), 1, 1);
  EXPECT_EQ(swaps.swapped, 600U);
  EXPECT_EQ(swaps.none_left, 0U);
  size_t crossed = 0;  // about 150 (deviation 9)
  for (uint32_t q = 0; q < 300; ++q) {
    const std::map<uint32_t, double> grades = GradesOf(set.examples[q]);
    EXPECT_EQ(grades.at(5 * q), 0);
    EXPECT_EQ(grades.at(5 * q + 1), 0);
    EXPECT_EQ(grades.at(5 * q + 2) + grades.at(5 * q + 3), 1.75);
    crossed += grades.at(5 * q + 2) == 0.75;
  }
  EXPECT_NEAR(static_cast<double>(crossed), 150, 40);
}

TEST(SwapLabels, QueriesWithoutANegativeAndThoseOutsideStayAndAreCounted) {
  TrainingSet set = Graded(3, PairedDocument::kAnyGrade);
  set.examples[0].others.pop_back();
  set.examples[0].others[0].grade = -1;  // not judged
  const std::map<uint32_t, double> without = GradesOf(set.examples[0]);
  const std::map<uint32_t, double> outside = GradesOf(set.examples[2]);
  set.examples[1].positives.clear();
  const SwappedLabels swaps = SwapLabels(set, std::vector<uint32_t>{0, 1}, 1, 1);
  EXPECT_EQ(swaps.swapped, 0U);
  EXPECT_EQ(swaps.pairs, 2U);
  EXPECT_EQ(swaps.without_negatives, 1U);
  EXPECT_EQ(swaps.none_left, 0U);
  EXPECT_EQ(swaps.with_both, 0U);
  EXPECT_EQ(GradesOf(set.examples[0]), without);
  EXPECT_EQ(GradesOf(set.examples[2]), outside);
}

TEST(SwapLabels, TheSeedDecides) {
  const auto swapped = [](uint64_t seed) {
    TrainingSet set = Graded(50, PairedDocument::kPositive);
    SwapLabels(set, All(set), 0.5, seed);
    std::vector<std::map<uint32_t, double>> grades;
    for (const TrainingQuery& query : set.examples) grades.push_back(GradesOf(query));
    return grades;
  };
  EXPECT_EQ(swapped(1), swapped(1));
  EXPECT_NE(swapped(1), swapped(2));
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
