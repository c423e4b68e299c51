#include "eval/significance/compare.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "eval/samples/run_samples.h"

namespace tandem::eval {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Judgements of queries q00, q01, ... and runs of them, in which a positive has a score with so
// much added to it.
struct World {
  explicit World(size_t count) : queries(count) {
    for (size_t q = 0; q < count; ++q) {
      qrels.Add(Query(q), "d0", 1);
      qrels.Add(Query(q), "d1", 1);
    }
  }

  static std::string Query(size_t q) { return fmt::format("q{:02}", q); }

  System Make(std::string name, uint64_t seed, double better, std::string_view measures,
              size_t first = 0) {
    RandomStream random({.seed = seed, .purpose = "world"});
    data::Run run;
    for (size_t q = first; q < queries; ++q) {
      for (int d = 0; d < 12; ++d) {
        const std::string_view id = run.Keep(fmt::format("d{}", d));
        run.AddQuery(Query(q)).results.push_back({id, random.Uniform() + (d < 2 ? better : 0)});
      }
    }
    System system{.name = std::move(name),
                  .evaluation = EvaluateRun(run, qrels, ParseMeasures(measures), {})};
    system.samples = SamplesOfRun(run, qrels, system.evaluation.queries, {}, false).samples;
    return system;
  }

  size_t queries;
  data::Qrels qrels;
};

constexpr CompareOptions kFast{.seed = 1, .permutations = 3000, .resamples = 1000, .threads = 2};
constexpr std::string_view kMeasures = "ndcg@10,map,auc,partial_auc,pool_ap,auc_per_query";

TEST(Compare, MeansDifferencesAndIntervalsAreOfTheirValues) {
  World world(60);
  const std::vector<System> systems = {world.Make("a", 1, 0.2, kMeasures),
                                       world.Make("b", 2, 0.5, kMeasures)};
  const Comparison comparison = Compare(systems, kFast);
  ASSERT_EQ(comparison.systems.size(), 1);
  ASSERT_EQ(comparison.systems[0].measures.size(), 6);
  for (size_t m = 0; m < 6; ++m) {
    const MeasureDifference& difference = comparison.systems[0].measures[m];
    EXPECT_NEAR(difference.baseline, *systems[0].evaluation.measures[m].mean, 1e-12);
    EXPECT_NEAR(difference.mean, *systems[1].evaluation.measures[m].mean, 1e-12);
    EXPECT_NEAR(difference.difference, difference.mean - difference.baseline, 1e-12);
    EXPECT_LT(difference.interval.low, difference.difference);
    EXPECT_GT(difference.interval.high, difference.difference);
    EXPECT_TRUE(difference.Significant(0.95)) << difference.measure;
    EXPECT_EQ(difference.holm_p, difference.p_value);
    EXPECT_EQ(difference.queries, 60);
    EXPECT_EQ(difference.effect_size.has_value(), m < 2 || m == 5);
  }
}

TEST(Compare, SwappingTwoSystemsTurnsTheSigns) {
  World world(50);
  const System a = world.Make("a", 1, 0.3, kMeasures), b = world.Make("b", 2, 0.35, kMeasures);
  const Comparison one = Compare(std::vector{a, b}, kFast);
  const Comparison other = Compare(std::vector{b, a}, kFast);
  for (size_t m = 0; m < 6; ++m) {
    const MeasureDifference& forth = one.systems[0].measures[m];
    const MeasureDifference& back = other.systems[0].measures[m];
    EXPECT_DOUBLE_EQ(forth.difference, -back.difference);
    EXPECT_EQ(forth.p_value, back.p_value);
    EXPECT_NEAR(forth.interval.low, -back.interval.high, 1e-12);
    EXPECT_NEAR(forth.interval.high, -back.interval.low, 1e-12);
    if (forth.effect_size) {
      EXPECT_NEAR(*forth.effect_size, -*back.effect_size, 1e-12);
    }
  }
}

TEST(Compare, TheSameRunTwiceHasPOne) {
  World world(40);
  const Comparison comparison = Compare(
      std::vector{world.Make("a", 1, 0.3, kMeasures), world.Make("b", 1, 0.3, kMeasures)}, kFast);
  for (const MeasureDifference& difference : comparison.systems[0].measures) {
    EXPECT_EQ(difference.p_value, 1) << difference.measure;
    EXPECT_EQ(difference.difference, 0);
    EXPECT_EQ(difference.interval.low, 0);
    EXPECT_EQ(difference.interval.high, 0);
    EXPECT_FALSE(difference.Significant(0.95));
  }
}

TEST(Compare, HolmIsOverTheSystemsOfAMeasure) {
  World world(40);
  const std::vector<System> systems = {
      world.Make("a", 1, 0.3, "map"), world.Make("b", 2, 0.36, "map"),
      world.Make("c", 3, 0.42, "map"), world.Make("d", 4, 0.3, "map")};
  const Comparison comparison = Compare(systems, kFast);
  std::vector<double> p, holm;
  for (const SystemComparison& system : comparison.systems) {
    p.push_back(system.measures[0].p_value);
    holm.push_back(system.measures[0].holm_p);
  }
  EXPECT_DOUBLE_EQ(*std::min_element(holm.begin(), holm.end()),
                   std::min(1.0, 3 * *std::min_element(p.begin(), p.end())));
  for (size_t s = 0; s < 3; ++s) EXPECT_GE(holm[s], p[s]);
}

TEST(Compare, QueriesThatOneLacksAreLeftOutAndCounted) {
  World world(20);
  const std::vector<System> systems = {world.Make("a", 1, 0.3, kMeasures),
                                       world.Make("b", 2, 0.3, kMeasures, /*first=*/5)};
  const Comparison comparison = Compare(systems, kFast);
  EXPECT_THAT(comparison.left_out, ElementsAre(5, 0));
  EXPECT_EQ(comparison.queries.size(), 15);
  EXPECT_EQ(comparison.queries.front(), "q05");
  double sum = 0;
  for (size_t q = 5; q < 20; ++q) sum += *systems[0].evaluation.measures[0].per_query[q];
  EXPECT_NEAR(comparison.systems[0].measures[0].baseline, sum / 15, 1e-12);
  // The pooled figures are of these queries too.
  EXPECT_DOUBLE_EQ(comparison.systems[0].measures[2].baseline,
                   *PooledAuc(std::span(systems[0].samples).subspan(5)));
}

TEST(Compare, WithoutACommonQueryItRefuses) {
  World world(4);
  System a = world.Make("a", 1, 0.3, "map"), b = world.Make("b", 2, 0.3, "map", 2);
  a.evaluation.queries.resize(2);
  EXPECT_THAT(
      [&] {
        Compare(std::vector{a, b}, kFast);
      },
      ThrowsMessage<DataError>(HasSubstr("no judged query is in all runs")));
  b = world.Make("b", 2, 0.3, "map");
  b.evaluation.measures[0].per_query[1] = std::nan("");
  EXPECT_THROW(Compare(std::vector{a, b}, kFast), NumericError);
}

TEST(Compare, SeedsAndThreads) {
  World world(50);
  const std::vector<System> systems = {world.Make("a", 1, 0.3, kMeasures),
                                       world.Make("b", 2, 0.33, kMeasures)};
  const auto lows = [&](CompareOptions options) {
    const auto compared = Compare(systems, options).systems[0].measures;
    std::vector<double> values;
    for (const auto& difference : compared) {
      values.push_back(difference.interval.low);
      values.push_back(difference.p_value);
    }
    return values;
  };
  CompareOptions options = kFast;
  const std::vector<double> first = lows(options);
  options.threads = 1;
  EXPECT_EQ(lows(options), first);
  options.seed = 2;
  EXPECT_NE(lows(options), first);
}

TEST(SamplesOfRun, QueriesOfFewerResultsThanOthersHaveNoFloor) {
  World world(2);
  data::Run run;
  for (const double score : {0.875, 0.5, 0.25}) {
    const std::string_view id = run.Keep(fmt::format("d{}", score));
    run.AddQuery("q00").results.push_back({id, score});
  }
  run.AddQuery("q01").results.push_back({"d0", 0.75});
  const std::vector<std::string> queries = {"q00", "q01"};
  const RunSamples samples = SamplesOfRun(run, world.qrels, queries, {}, true);
  EXPECT_THAT(samples.floors, ElementsAre(0.25, -HUGE_VAL));
  EXPECT_EQ(samples.samples[1].missing_positives, 1);
  EXPECT_THAT(samples.samples[0].negatives, ElementsAre(0.875, 0.5, 0.25));
}

TEST(ExtremesOf, AreTheGreatestGainsAndLosses) {
  World world(30);
  const System a = world.Make("a", 1, 0.3, kMeasures), b = world.Make("b", 2, 0.3, kMeasures);
  const Comparison comparison = Compare(std::vector{a, b}, kFast);
  const Extremes extremes = ExtremesOf(comparison, a, b, 0, 3);
  ASSERT_EQ(extremes.gained.size(), 3);
  ASSERT_EQ(extremes.lost.size(), 3);
  size_t above = 0, below = 0;
  const auto change = [](const QueryDifference& query) { return query.value - query.baseline; };
  for (size_t q = 0; q < 30; ++q) {
    const double difference =
        *b.evaluation.measures[0].per_query[q] - *a.evaluation.measures[0].per_query[q];
    above += difference > change(extremes.gained[2]);
    below += difference < change(extremes.lost[2]);
  }
  EXPECT_EQ(above, 2);
  EXPECT_EQ(below, 2);
  EXPECT_GE(change(extremes.gained[0]), change(extremes.gained[1]));
  EXPECT_TRUE(ExtremesOf(comparison, a, b, 2, 3).gained.empty());  // auc has no values of queries
}

}  // namespace
}  // namespace tandem::eval
