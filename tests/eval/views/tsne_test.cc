#include "eval/views/tsne.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "eval/views/views_rows.h"

namespace tandem::eval {
namespace {

UnitRows TwoBlobs(size_t each) {
  UnitRows rows = Unit(RandomRows(each, 6, 1, 0.3, {1, 0, 0, 0, 0, 0}), 6);
  rows.Append(Unit(RandomRows(each, 6, 2, 0.3, {0, 1, 0, 0, 0, 0}), 6));
  return rows;
}

TEST(TsneAffinities, AreSymmetricAndHaveThePerplexity) {
  const UnitRows rows = Unit(RandomRows(40, 4, 3), 4);
  const std::vector<double> affinities = TsneAffinities(rows, 7, 1);
  EXPECT_NEAR(std::accumulate(affinities.begin(), affinities.end(), 0.0), 1, 1e-12);
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(affinities[i * 40 + i], 0);
    for (size_t j = 0; j < i; ++j) EXPECT_EQ(affinities[i * 40 + j], affinities[j * 40 + i]);
  }
}

TEST(TsneAffinities, NearRowsCountMoreByTheGaussianOfTheirDistance) {
  // Three rows whose distances from each other are the same two by two: by symmetry the affinities
  // follow from one number, the perplexity 1.5 of (p, 1 - p).
  const UnitRows rows = Unit({1, 0, 0.8F, 0.6F, 0.8F, -0.6F}, 2);
  const std::vector<double> affinities = TsneAffinities(rows, 1.5, 1);
  // Row 0 is equally far from both others: p = 1/2 each. Rows 1 and 2 prefer row 0: their p has
  // the entropy log 1.5.
  double p = 0.5, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (p + high) / 2;
    const double entropy = -middle * std::log(middle) - (1 - middle) * std::log(1 - middle);
    (entropy > std::log(1.5) ? p : high) = middle;
  }
  EXPECT_NEAR(affinities[1], (0.5 + p) / 6, 1e-9);
  EXPECT_NEAR(affinities[2], (0.5 + p) / 6, 1e-9);
  EXPECT_NEAR(affinities[5], 2 * (1 - p) / 6, 1e-9);
}

TEST(TsneGradient, EqualsCentralDifferencesOfTheDivergence) {
  const UnitRows rows = Unit(RandomRows(12, 4, 3), 4);
  const std::vector<double> affinities = TsneAffinities(rows, 3, 1);
  const UnitRows places = Unit(RandomRows(12, 2, 9), 2);
  std::vector<PlanePoint> points;
  for (size_t i = 0; i < 12; ++i) points.push_back({places.row(i)[0], 2 * places.row(i)[1]});
  const std::vector<PlanePoint> gradient = TsneGradient(affinities, points, 1, 2);
  for (size_t i = 0; i < 12; ++i) {
    for (size_t c = 0; c < 2; ++c) {
      constexpr double kStep = 1e-5;
      std::vector<PlanePoint> moved = points;
      moved[i][c] += kStep;
      const double above = TsneDivergence(affinities, moved);
      moved[i][c] -= 2 * kStep;
      const double below = TsneDivergence(affinities, moved);
      EXPECT_NEAR(gradient[i][c], (above - below) / (2 * kStep), 1e-8);
    }
  }
}

TEST(Tsne, FitsTheAffinitiesAndKeepsGroupsApart) {
  const UnitRows rows = TwoBlobs(30);
  const PrincipalPlane plane = ProjectOnPlane(rows, 1);
  const std::vector<PlanePoint> points = Tsne(rows, plane.points, {.perplexity = 10});
  const std::vector<double> affinities = TsneAffinities(rows, 10, 1);
  EXPECT_LT(TsneDivergence(affinities, points), 0.5 * TsneDivergence(affinities, plane.points));
  const std::vector<PlanePoint> gradient = TsneGradient(affinities, points, 1, 1);
  for (const PlanePoint& slope : gradient) EXPECT_LT(std::hypot(slope[0], slope[1]), 1e-3);
  // Every point's nearest neighbour is of its own group.
  for (size_t i = 0; i < points.size(); ++i) {
    size_t nearest = i == 0 ? 1 : 0;
    const auto distance = [&](size_t j) {
      return std::hypot(points[i][0] - points[j][0], points[i][1] - points[j][1]);
    };
    for (size_t j = 0; j < points.size(); ++j) {
      if (j != i && distance(j) < distance(nearest)) nearest = j;
    }
    EXPECT_EQ(i < 30, nearest < 30) << i;
  }
}

TEST(Tsne, ThreadsChangeNothing) {
  const UnitRows rows = TwoBlobs(30);
  const PrincipalPlane plane = ProjectOnPlane(rows, 1);
  const auto one = Tsne(rows, plane.points, {.iterations = 300});
  for (int threads : {2, 3}) {
    EXPECT_EQ(Tsne(rows, plane.points, {.iterations = 300, .threads = threads}), one);
  }
}

TEST(Tsne, Degenerate) {
  const auto project = [](const std::vector<float>& values) {
    const UnitRows rows = Unit(values, 2);
    return Tsne(rows, ProjectOnPlane(rows, 1).points, {.iterations = 300});
  };
  EXPECT_TRUE(project({}).empty());
  EXPECT_EQ(project({1, 0, 0, 1, 1, 1}), std::vector<PlanePoint>(3));
  EXPECT_EQ(project(std::vector<float>(20, 1)), std::vector<PlanePoint>(10));  // equal rows
  EXPECT_EQ(project(std::vector<float>(20, 0)), std::vector<PlanePoint>(10));
  // Some equal rows, and rows that are all equally far from each other.
  for (const auto& values : {std::vector<float>{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1},
                             std::vector<float>{1, 0, 0, 1, -1, 0, 0, -1}}) {
    const std::vector<PlanePoint> points = project(values);
    for (const PlanePoint& point : points) {
      EXPECT_TRUE(std::isfinite(point[0]) && std::isfinite(point[1]));
    }
    EXPECT_NE(points.front(), points.back());
  }
}

}  // namespace
}  // namespace tandem::eval
