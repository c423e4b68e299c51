#include "eval/samples/thresholds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "eval/random_samples.h"
#include "eval/samples/threshold_choice.h"

namespace tandem::eval {
namespace {

using testing::DoubleEq;
using testing::HasSubstr;
using testing::Optional;
using testing::ThrowsMessage;

constexpr BootstrapOptions kFewResamples{.seed = 1, .resamples = 64, .threads = 2};

ChosenThreshold Choose(const std::vector<QuerySamples>& samples, std::string_view target,
                       const BootstrapOptions& options = kFewResamples) {
  const std::vector<double> floors(samples.size(), kNoFloor);
  return ChooseThresholds(PoolLevels(samples), LevelsOfCorpus(samples, floors, nullptr),
                          ParseTargets(target), options)[0];
}

// Two queries: of ten documents from 1.0 down to 0.1, those at 1.0, 0.8 and 0.5 are positives.
std::vector<QuerySamples> TenDocuments() {
  return {{.query = "a", .positives = {1.0, 0.5}, .negatives = {0.9, 0.4, 0.2}},
          {.query = "b", .positives = {0.8}, .negatives = {0.7, 0.6, 0.3, 0.1}}};
}

TEST(ChooseThresholds, PrecisionTakesTheLowestThresholdThatHasIt) {
  // Precisions at the positives: 1, 2/3, 3/6.
  EXPECT_THAT(Choose(TenDocuments(), "precision=0.6").threshold, Optional(0.8));
  EXPECT_THAT(Choose(TenDocuments(), "precision=0.5").threshold, Optional(0.5));
  const ChosenThreshold all = Choose(TenDocuments(), "precision=1");
  EXPECT_TRUE(all.met);
  EXPECT_THAT(all.threshold, Optional(1.0));
  EXPECT_THAT(all.values.precision, Optional(1.0));
  EXPECT_DOUBLE_EQ(all.values.recall, 1 / 3.0);
}

TEST(ChooseThresholds, RecallRateAndResults) {
  const ChosenThreshold recall = Choose(TenDocuments(), "recall=0.66");
  EXPECT_THAT(recall.threshold, Optional(0.8));
  EXPECT_DOUBLE_EQ(recall.values.recall, 2 / 3.0);
  EXPECT_THAT(recall.values.precision, Optional(DoubleEq(2 / 3.0)));
  EXPECT_DOUBLE_EQ(recall.values.false_positive_rate, 1 / 7.0);
  EXPECT_THAT(recall.values.results, Optional(1.5));
  // 3 of 7 others are allowed: those at 0.9, 0.7 and 0.6; the positive at 0.5 comes with them.
  const ChosenThreshold rate = Choose(TenDocuments(), "fpr=0.43");
  EXPECT_THAT(rate.threshold, Optional(0.5));
  EXPECT_DOUBLE_EQ(rate.values.false_positive_rate, 3 / 7.0);
  const ChosenThreshold results = Choose(TenDocuments(), "results=2");
  EXPECT_THAT(results.threshold, Optional(0.7));
  EXPECT_THAT(results.values.results, Optional(2.0));
  EXPECT_THAT(Choose(TenDocuments(), "results=100").threshold, Optional(0.1));
}

// 0.9 * 10 is above 9 in binary fractions, and so are others.
TEST(ChooseThresholds, SharesThatComeOutExactlyAreMet) {
  for (int count = 1; count <= 100; ++count) {
    std::vector<QuerySamples> samples(1);
    for (int i = 1; i <= 100; ++i) samples[0].positives.push_back(i);
    samples[0].negatives = {0};
    const std::string value = std::to_string(count / 100.0);
    EXPECT_THAT(Choose(samples, "recall=" + value, {.resamples = 1}).threshold,
                Optional(101.0 - count))
        << value;
  }
}

TEST(ChooseThresholds, ATargetThatCannotBeMetSaysTheBestPossible) {
  std::vector<QuerySamples> samples = TenDocuments();
  samples[0].negatives.push_back(1.1);
  const ChosenThreshold precision = Choose(samples, "precision=0.9");
  EXPECT_FALSE(precision.met);
  EXPECT_THAT(precision.threshold, Optional(0.8));  // 2 of 4; then 3 of 7, before 1 of 2
  EXPECT_THAT(precision.values.precision, Optional(0.5));
  EXPECT_LT(precision.met_share, 1);
  samples[1].missing_positives = 1;
  const ChosenThreshold recall = Choose(samples, "recall=0.9");
  EXPECT_FALSE(recall.met);
  EXPECT_THAT(recall.threshold, Optional(0.5));
  EXPECT_DOUBLE_EQ(recall.values.recall, 0.75);
  const ChosenThreshold rate = Choose(samples, "fpr=0.01");
  EXPECT_FALSE(rate.met);
  EXPECT_THAT(rate.threshold, Optional(1.1));
  EXPECT_DOUBLE_EQ(rate.values.false_positive_rate, 1 / 8.0);
  EXPECT_FALSE(Choose(samples, "results=0.4").met);
  EXPECT_EQ(Choose({{.query = "a"}}, "precision=0.5").threshold, std::nullopt);
}

// Every threshold of the samples, one by one; for precision those at positives.
std::optional<double> ByTrying(const std::vector<QuerySamples>& samples, const Target& target) {
  std::set<double> thresholds;
  double positives = 0, others = 0;
  for (const QuerySamples& query : samples) {
    thresholds.insert(query.positives.begin(), query.positives.end());
    if (target.kind != TargetKind::kPrecision) {
      thresholds.insert(query.negatives.begin(), query.negatives.end());
    }
    positives += static_cast<double>(query.positives.size() + query.missing_positives);
    others += static_cast<double>(query.negatives.size());
  }
  std::vector<double> good;
  for (const double threshold : thresholds) {
    double found = 0, wrong = 0;
    for (const QuerySamples& query : samples) {
      for (const double score : query.positives) found += score >= threshold;
      for (const double score : query.negatives) wrong += score >= threshold;
    }
    const bool met = target.kind == TargetKind::kPrecision ? found / (found + wrong) >= target.value
                     : target.kind == TargetKind::kRecall  ? found / positives >= target.value
                     : target.kind == TargetKind::kFalsePositiveRate
                         ? wrong / others <= target.value
                         : (found + wrong) / static_cast<double>(samples.size()) <= target.value;
    if (met) good.push_back(threshold);
  }
  if (good.empty()) return std::nullopt;
  return target.kind == TargetKind::kRecall ? good.back() : good.front();
}

TEST(ChooseThresholds, IsWhatTryingAllThresholdsFinds) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<QuerySamples> samples = RandomSamples(seed);
    for (const char* text : {"precision=0.55", "recall=0.7", "fpr=0.17", "results=3.3"}) {
      const Target target = ParseTargets(text)[0];
      const ChosenThreshold chosen = Choose(samples, text, {.resamples = 1});
      const std::optional<double> expected = ByTrying(samples, target);
      EXPECT_EQ(chosen.met, expected.has_value()) << seed << " " << text;
      if (expected) {
        EXPECT_EQ(chosen.threshold, expected) << seed << " " << text;
      }
    }
  }
}

TEST(ChooseThresholds, IntervalsAreOfDrawnQueries) {
  const std::vector<QuerySamples> samples = RandomSamples(11);
  const BootstrapOptions options{.seed = 5, .resamples = 40, .confidence = 0.9, .threads = 2};
  const ChosenThreshold chosen = Choose(samples, "recall=0.5", options);
  std::vector<double> thresholds, recalls;
  std::vector<uint32_t> counts(samples.size());
  for (size_t r = 0; r < 40; ++r) {
    DrawCounts(5, r, counts);
    std::vector<QuerySamples> drawn;
    double found = 0, positives = 0;
    for (size_t q = 0; q < counts.size(); ++q) {
      drawn.insert(drawn.end(), counts[q], samples[q]);
      for (const double score : samples[q].positives) {
        found += score >= *chosen.threshold ? counts[q] : 0;
      }
      positives += counts[q] *
                   static_cast<double>(samples[q].positives.size() + samples[q].missing_positives);
    }
    thresholds.push_back(*ByTrying(drawn, {TargetKind::kRecall, 0.5}));
    recalls.push_back(found / positives);
  }
  const Interval expected = PercentileInterval(thresholds, 0.9);
  EXPECT_DOUBLE_EQ(chosen.threshold_interval->low, expected.low);
  EXPECT_DOUBLE_EQ(chosen.threshold_interval->high, expected.high);
  const Interval of_recall = PercentileInterval(recalls, 0.9);
  EXPECT_DOUBLE_EQ(chosen.intervals.recall->low, of_recall.low);
  EXPECT_DOUBLE_EQ(chosen.intervals.recall->high, of_recall.high);
  EXPECT_EQ(chosen.met_share, 1);
  EXPECT_DOUBLE_EQ(Choose(samples, "recall=0.5", {.seed = 5, .resamples = 40, .threads = 1})
                       .threshold_interval->low,
                   PercentileInterval(thresholds, 0.95).low);
}

// A corpus of which the samples hold the best documents only, as kNegativesPerQuery does at size.
struct Corpus {
  std::vector<QuerySamples> whole;
  std::vector<QuerySamples> samples;  // the best `kept` others of each query
  std::vector<double> floors;
};

Corpus CutCorpus(uint64_t seed, size_t kept) {
  Corpus corpus{.whole = RandomSamples(seed)};
  corpus.samples = corpus.whole;
  for (QuerySamples& query : corpus.samples) {
    std::sort(query.negatives.begin(), query.negatives.end(), std::greater<>());
    const bool cut = query.negatives.size() > kept;
    if (cut) query.negatives.resize(kept);
    corpus.floors.push_back(cut ? query.negatives.back() : kNoFloor);
  }
  return corpus;
}

CorpusCounts CountWhole(const Corpus& corpus, std::vector<double> thresholds) {
  CorpusCounts counted{.thresholds = std::move(thresholds)};
  for (const QuerySamples& query : corpus.whole) {
    for (const double threshold : counted.thresholds) {
      uint32_t count = 0;
      for (const double score : query.positives) count += score >= threshold;
      for (const double score : query.negatives) count += score >= threshold;
      counted.counts.push_back(count);
    }
  }
  return counted;
}

TEST(LevelsOfCorpus, CountedLevelsGiveTheThresholdsOfTheWholeCorpus) {
  int intervals_compared = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Corpus corpus = CutCorpus(seed, 2);
    const std::vector<Target> targets = ParseTargets("precision=0.3,recall=0.9");
    const ScoreLevels pool = PoolLevels(corpus.samples);
    const CorpusCounts counted =
        CountWhole(corpus, CandidateThresholds(corpus.samples, BorderOf(corpus.floors),
                                               PoolThresholds(pool, targets)));
    const auto chosen =
        ChooseThresholds(pool, LevelsOfCorpus(corpus.samples, corpus.floors, &counted), targets,
                         {.seed = 3, .resamples = 30});
    for (size_t w = 0; w < targets.size(); ++w) {
      const ChosenThreshold whole =
          Choose(corpus.whole, targets[w].name(), {.seed = 3, .resamples = 30});
      ASSERT_EQ(chosen[w].met, whole.met) << seed;
      EXPECT_EQ(chosen[w].threshold, whole.threshold) << seed;
      EXPECT_EQ(chosen[w].values.precision, whole.values.precision) << seed;
      EXPECT_EQ(chosen[w].values.results, whole.values.results) << seed;
      ASSERT_EQ(chosen[w].threshold_interval.has_value(), whole.threshold_interval.has_value());
      if (whole.threshold_interval) {
        EXPECT_EQ(chosen[w].threshold_interval->low, whole.threshold_interval->low) << seed;
        intervals_compared++;
      }
      ASSERT_TRUE(chosen[w].intervals.precision && whole.intervals.precision);
      EXPECT_EQ(chosen[w].intervals.precision->high, whole.intervals.precision->high) << seed;
      EXPECT_FALSE(chosen[w].ends_at_depth);
    }
  }
  EXPECT_GT(intervals_compared, 60);
}

TEST(LevelsOfCorpus, WithoutCountsNothingIsSaidBelowTheBorder) {
  int ended = 0, unknown = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Corpus corpus = CutCorpus(seed, 2);
    const CorpusLevels levels = LevelsOfCorpus(corpus.samples, corpus.floors, nullptr);
    const double border = BorderOf(corpus.floors);
    EXPECT_EQ(levels.unknown_from, border);
    const auto chosen = ChooseThresholds(PoolLevels(corpus.samples), levels,
                                         ParseTargets("precision=0.3,recall=0.9"), kFewResamples);
    const ChosenThreshold whole = Choose(corpus.whole, "precision=0.3");
    if (chosen[0].met) {
      EXPECT_GT(*chosen[0].threshold, border);
      EXPECT_GE(*chosen[0].threshold, *whole.threshold);
      EXPECT_GE(*chosen[0].values.precision, 0.3);
    }
    ended += chosen[0].ends_at_depth;
    if (!chosen[1].met) continue;
    // Recall is known where precision is not.
    EXPECT_EQ(chosen[1].values.precision.has_value(), *chosen[1].threshold > border);
    EXPECT_EQ(chosen[1].values.results.has_value(), *chosen[1].threshold > border);
    unknown += !chosen[1].values.precision;
  }
  EXPECT_GT(ended, 5);
  EXPECT_GT(unknown, 5);
}

TEST(LevelsOfCorpus, OnlyQueriesWithAllTheirSamplesHaveAFloor) {
  std::vector<QuerySamples> samples(2);
  for (size_t i = 0; i < kNegativesPerQuery; ++i) {
    samples[0].negatives.push_back(static_cast<double>(i) + 0.5);
    if (i > 0) samples[1].negatives.push_back(static_cast<double>(i));
  }
  EXPECT_THAT(FloorsOf(samples), testing::ElementsAre(0.5, kNoFloor));
  EXPECT_EQ(LevelsOfCorpus(samples, FloorsOf(samples), nullptr).cut_queries, 1);
}

TEST(CandidateThresholds, AreBelowTheBorderDistinctAndSpreadWhereTheyAreMany) {
  std::vector<QuerySamples> samples(1);
  for (int i = 0; i < 10'000; ++i) samples[0].positives.push_back(i / 4);
  samples[0].negatives = {7.5, 3000};
  const std::vector<double> all =
      CandidateThresholds(samples, 100, std::vector<double>{50.25, 200});
  EXPECT_EQ(all.size(), 101 + 2);
  EXPECT_EQ(all.front(), 100);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), std::greater<>()));
  const std::vector<double> many = CandidateThresholds(samples, 1e9, {});
  EXPECT_LE(many.size(), 2048 + 2);
  EXPECT_GE(many.size(), 2048);
  EXPECT_EQ(many.front(), 3000);
  EXPECT_EQ(many.back(), 0);
}

TEST(ParseTargets, ReadsNamesAndValues) {
  const std::vector<Target> targets =
      ParseTargets("precision=0.9, recall = 0.8,fpr=1e-2,results=5");
  ASSERT_EQ(targets.size(), 4);
  EXPECT_EQ(targets[0].name(), "precision=0.9");
  EXPECT_EQ(targets[1].name(), "recall=0.8");
  EXPECT_EQ(targets[2].name(), "fpr=0.01");
  EXPECT_EQ(targets[3].kind, TargetKind::kResults);
  EXPECT_EQ(targets[3].value, 5);
}

TEST(ParseTargets, SaysWhatIsWrong) {
  const auto wrong = [](std::string_view list, const std::string& message) {
    EXPECT_THAT([&] { ParseTargets(list); }, ThrowsMessage<UsageError>(HasSubstr(message))) << list;
  };
  wrong("precison=0.9", "threshold precison=0.9 is unknown; did you mean precision?");
  wrong("precision", "threshold precision has no value; expected precision=0.9");
  wrong("recall=1.5",
        "threshold recall=1.5: the value is 1.5; expected a number above 0, at most 1");
  wrong("recall=0", "expected a number above 0");
  wrong("results=-2", "expected a number above 0");
  wrong("results=nan", "expected a number above 0");
  wrong("fpr=a", "the value is a;");
  wrong("fpr=", "the value is empty;");
  wrong("", "threshold \"\" is unknown");
  wrong("fpr=0.1,", "threshold \"\" is unknown");
  wrong("fpr=0.1,fpr=0.10", "threshold fpr=0.1 is asked for twice");
}

}  // namespace
}  // namespace tandem::eval
