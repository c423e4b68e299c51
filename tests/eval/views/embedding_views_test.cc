#include "eval/views/embedding_views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "eval/views/views_rows.h"

namespace tandem::eval {
namespace {

// Towers of E numbers each and the rows that views are made of.
struct Towers {
  size_t width;
  std::vector<float> queries;
  std::vector<float> nearest;
  std::vector<float> positives;

  ViewRows rows() const {
    ViewRows rows{
        .queries = {queries, width}, .nearest = {nearest, width}, .positives = {positives, width}};
    rows.positive_queries.resize(rows.positives.size());
    std::iota(rows.positive_queries.begin(), rows.positive_queries.end(), 0);
    return rows;
  }
};

Towers Apart(size_t count, size_t width = 6) {
  std::vector<double> north(width), east(width);
  north[0] = east[1] = 1;
  return {width, RandomRows(count, width, 1, 0.3, north), RandomRows(count, width, 3, 0.3, east),
          RandomRows(count, width, 2, 0.3, east)};
}

constexpr ViewOptions kQuick{.tsne = false};

TEST(EmbeddingViews, TowersThatAreApart) {
  // A common direction, so that no cosine is near zero.
  Towers towers = Apart(60);
  for (auto tower : {&Towers::queries, &Towers::nearest, &Towers::positives}) {
    for (size_t i = 2; i < (towers.*tower).size(); i += 6) (towers.*tower)[i] += 1.5F;
  }
  const EmbeddingViews views = MakeEmbeddingViews(towers.rows(), kQuick);
  EXPECT_EQ(views.queries, 60);
  EXPECT_EQ(views.pairs, 60);
  EXPECT_EQ(views.separability, 1);
  EXPECT_GT(*views.centroid_gap, 0.6);
  EXPECT_EQ(views.ratio.left_out, 0);
  EXPECT_GT(*views.ratio.median, 1.2);  // queries lie by themselves
  EXPECT_LT(*views.nearest.median, 0.8);
  EXPECT_GT(*views.alignment, 0.4);
  // In the picture the first component separates the towers.
  ASSERT_EQ(views.pictures.principal.points.size(), 120);
  for (size_t i = 0; i < 60; ++i) {
    EXPECT_LT(views.pictures.principal.points[i][0] * views.pictures.principal.points[60][0], 0);
  }
}

TEST(EmbeddingViews, OneTowerTwice) {
  Towers towers = Apart(60);
  towers.positives = towers.nearest = towers.queries;
  const EmbeddingViews views = MakeEmbeddingViews(towers.rows(), kQuick);
  EXPECT_EQ(views.separability, 0.5);
  EXPECT_EQ(views.centroid_gap, 0);
  EXPECT_EQ(views.alignment, 0);
  EXPECT_EQ(views.ratio.median, 1);
  EXPECT_NEAR(*views.nearest.median, 1, 1e-12);
  EXPECT_EQ(views.nearest.histogram.counts.back(), 60);
  EXPECT_EQ(views.uniformity_queries, views.uniformity_positives);
}

TEST(EmbeddingViews, TowersAtARightAngle) {
  const Towers towers{
      4, {1, 0, 0, 0, 0, 1, 0, 0}, {0, 0, 1, 0, 0, 0, 0, 1}, {0, 0, 1, 0, 0, 0, 0, 1}};
  const EmbeddingViews views = MakeEmbeddingViews(towers.rows(), kQuick);
  EXPECT_EQ(views.nearest.median, 0);
  EXPECT_EQ(views.ratio.median, std::nullopt);
  EXPECT_EQ(views.ratio.left_out, 2);
  EXPECT_EQ(views.ratio.mean_query_positive, 0);
  EXPECT_NEAR(*views.centroid_gap, 1, 1e-12);
  EXPECT_NEAR(*views.alignment, 2, 1e-12);
  EXPECT_NEAR(*views.uniformity_queries, -4, 1e-12);
}

TEST(EmbeddingViews, OrderAndRotationChangeNothing) {
  const Towers towers = Apart(40);
  const EmbeddingViews views = MakeEmbeddingViews(towers.rows(), kQuick);
  ViewRows reversed = towers.rows();
  std::vector<float> backwards;
  for (size_t i = 40; i > 0; --i) {
    const auto row = reversed.positives.row(i - 1);
    backwards.insert(backwards.end(), row.begin(), row.end());
  }
  reversed.positives.values = backwards;
  std::reverse(reversed.positive_queries.begin(), reversed.positive_queries.end());
  const Towers turned{6, Rotated(towers.queries, 6), Rotated(towers.nearest, 6),
                      Rotated(towers.positives, 6)};
  for (const ViewRows& rows : {reversed, turned.rows()}) {
    const EmbeddingViews other = MakeEmbeddingViews(rows, kQuick);
    EXPECT_NEAR(*other.nearest.median, *views.nearest.median, 1e-6);
    EXPECT_NEAR(*other.alignment, *views.alignment, 1e-6);
    EXPECT_NEAR(*other.uniformity_queries, *views.uniformity_queries, 1e-6);
    EXPECT_NEAR(*other.uniformity_positives, *views.uniformity_positives, 1e-6);
    EXPECT_NEAR(*other.centroid_gap, *views.centroid_gap, 1e-6);
    EXPECT_NEAR(*other.ratio.median, *views.ratio.median, 1e-5);
    EXPECT_NEAR(*other.ratio.mean_query_query, *views.ratio.mean_query_query, 1e-6);
    EXPECT_EQ(other.separability, views.separability);
  }
}

TEST(EmbeddingViews, PositivesBelongToTheQueriesThatTheyName) {
  // The second query has no positive, the third has its own place as one.
  const std::vector<float> queries = {1, 0, 0, 1, -1, 0}, positives = {-1, 0, 1, 0};
  const EmbeddingViews views = MakeEmbeddingViews({.queries = {queries, 2},
                                                   .nearest = {queries, 2},
                                                   .positives = {positives, 2},
                                                   .positive_queries = {2, 0}},
                                                  kQuick);
  EXPECT_EQ(views.queries, 3);
  EXPECT_EQ(views.pairs, 2);
  EXPECT_EQ(views.alignment, 0);
  EXPECT_EQ(views.pictures.queries, (std::vector<uint32_t>{2, 0}));
}

TEST(EmbeddingViews, ThreadsChangeNothing) {
  const Towers towers = Apart(300, 20);
  ViewOptions options{.most_pairs = 200, .most_projected = 30, .ratio_draws = 500};
  const EmbeddingViews one = MakeEmbeddingViews(towers.rows(), options);
  for (int threads : {2, 5}) {
    options.threads = threads;
    const EmbeddingViews other = MakeEmbeddingViews(towers.rows(), options);
    EXPECT_EQ(other.uniformity_queries, one.uniformity_queries);
    EXPECT_EQ(other.separability, one.separability);
    EXPECT_EQ(other.ratio.histogram.counts, one.ratio.histogram.counts);
    EXPECT_EQ(other.pictures.principal.points, one.pictures.principal.points);
    EXPECT_EQ(other.pictures.tsne, one.pictures.tsne);
  }
}

TEST(EmbeddingViews, LooksAtASampleOfMany) {
  const Towers towers = Apart(100);
  ViewOptions options = kQuick;
  options.most_pairs = 30;
  options.most_projected = 7;
  const EmbeddingViews views = MakeEmbeddingViews(towers.rows(), options);
  EXPECT_EQ(views.queries, 100);
  EXPECT_EQ(views.pairs, 30);
  EXPECT_EQ(views.pictures.queries.size(), 7);
  EXPECT_EQ(views.pictures.principal.points.size(), 14);
  const std::vector<uint32_t> sample = SampleOf(100, 30, options.seed, "pairs of views");
  EXPECT_TRUE(std::includes(sample.begin(), sample.end(), views.pictures.queries.begin(),
                            views.pictures.queries.end()));
  size_t cosines = 0;
  for (const size_t count : views.nearest.histogram.counts) cosines += count;
  EXPECT_EQ(cosines, 100);
  options.seed = 2;
  EXPECT_NE(MakeEmbeddingViews(towers.rows(), options).alignment, views.alignment);
}

TEST(EmbeddingViews, SamplesAreDrawnEvenly) {
  EXPECT_EQ(SampleOf(3, 3, 1, "test"), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_TRUE(SampleOf(0, 3, 1, "test").empty());
  std::vector<size_t> drawn(10);
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::vector<uint32_t> sample = SampleOf(10, 4, seed, "test");
    ASSERT_EQ(sample.size(), 4);
    ASSERT_TRUE(std::adjacent_find(sample.begin(), sample.end(), std::greater_equal<>()) ==
                sample.end());
    for (const uint32_t number : sample) ++drawn[number];
  }
  // 2,000 draws at 0.4 have a deviation of 22.
  for (const size_t count : drawn) EXPECT_NEAR(static_cast<double>(count), 800, 100);
}

TEST(EmbeddingViews, WithoutRowsThatANumberNeedsThereIsNone) {
  const EmbeddingViews none = MakeEmbeddingViews({}, {});
  EXPECT_EQ(none.nearest.median, std::nullopt);
  EXPECT_EQ(none.alignment, std::nullopt);
  const std::vector<float> query = {0.6F, 0.8F};
  const EmbeddingViews one = MakeEmbeddingViews({.queries = {query, 2},
                                                 .nearest = {query, 2},
                                                 .positives = {query, 2},
                                                 .positive_queries = {0}},
                                                {});
  EXPECT_NEAR(*one.nearest.median, 1, 1e-12);
  EXPECT_EQ(one.alignment, 0);
  EXPECT_EQ(one.centroid_gap, 0);
  EXPECT_EQ(one.uniformity_queries, std::nullopt);
  EXPECT_EQ(one.separability, std::nullopt);
  EXPECT_EQ(one.ratio.median, std::nullopt);
  EXPECT_EQ(one.pictures.tsne, std::vector<PlanePoint>(2));
  const EmbeddingViews unpaired =
      MakeEmbeddingViews({.queries = {query, 2}, .nearest = {query, 2}, .positives = {{}, 2}}, {});
  EXPECT_TRUE(unpaired.nearest.median.has_value());
  EXPECT_EQ(unpaired.centroid_gap, std::nullopt);
}

TEST(EmbeddingViews, RowsThatAreAllEqualOrZero) {
  for (float value : {0.0F, 0.25F}) {
    const std::vector<float> rows(40, value);
    const Towers towers{4, rows, rows, rows};
    const EmbeddingViews views = MakeEmbeddingViews(towers.rows(), {});
    EXPECT_NEAR(*views.nearest.median, value == 0 ? 0 : 1, 1e-12);
    EXPECT_EQ(views.uniformity_queries, 0);
    EXPECT_EQ(views.separability, 0.5);
    EXPECT_EQ(views.ratio.left_out, value == 0 ? 90 : 0);
    EXPECT_EQ(views.pictures.tsne, std::vector<PlanePoint>(20));
  }
}

TEST(EmbeddingViews, ValuesThatAreNotFiniteAreErrors) {
  for (auto tower : {&Towers::queries, &Towers::nearest, &Towers::positives}) {
    Towers towers = Apart(5);
    (towers.*tower)[8] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THROW(MakeEmbeddingViews(towers.rows(), kQuick), NumericError);
  }
}

TEST(EmbeddingViews, RowsThatDoNotBelongTogetherAreErrors) {
  const Towers towers = Apart(5);
  ViewRows rows = towers.rows();
  rows.positive_queries.back() = 5;
  EXPECT_THROW(MakeEmbeddingViews(rows, kQuick), std::logic_error);
  rows = towers.rows();
  rows.nearest.values = rows.nearest.values.first(6);
  EXPECT_THROW(MakeEmbeddingViews(rows, kQuick), std::logic_error);
  rows = towers.rows();
  rows.positives.width = 3;
  EXPECT_THROW(MakeEmbeddingViews(rows, kQuick), std::logic_error);
}

}  // namespace
}  // namespace tandem::eval
