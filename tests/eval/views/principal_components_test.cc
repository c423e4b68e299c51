#include "eval/views/principal_components.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eval/views/symmetric_eigen.h"
#include "eval/views/views_rows.h"

namespace tandem::eval {
namespace {

TEST(SymmetricEigen, WorkedExample) {
  const SymmetricEigen eigen = EigenOfSymmetric({2, 1, 1, 2}, 2);
  EXPECT_NEAR(eigen.values[0], 3, 1e-14);
  EXPECT_NEAR(eigen.values[1], 1, 1e-14);
  EXPECT_NEAR(std::abs(eigen.vectors[0] + eigen.vectors[1]), std::sqrt(2), 1e-14);
  EXPECT_NEAR(eigen.vectors[2] + eigen.vectors[3], 0, 1e-14);
}

TEST(SymmetricEigen, GivesTheMatrixBack) {
  for (size_t n : {1, 3, 8}) {
    const UnitRows random = Unit(RandomRows(n, n, n), n);
    std::vector<double> matrix(n * n);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) matrix[i * n + j] = random.row(i)[j] + random.row(j)[i];
    }
    const SymmetricEigen eigen = EigenOfSymmetric(matrix, n);
    for (size_t i = 0; i < n; ++i) {
      if (i > 0) {
        EXPECT_LE(eigen.values[i], eigen.values[i - 1]);
      }
      for (size_t j = 0; j < n; ++j) {
        double sum = 0, product = 0;
        for (size_t k = 0; k < n; ++k) {
          sum += eigen.values[k] * eigen.vectors[k * n + i] * eigen.vectors[k * n + j];
          product += eigen.vectors[i * n + k] * eigen.vectors[j * n + k];
        }
        EXPECT_NEAR(sum, matrix[i * n + j], 1e-13);
        EXPECT_NEAR(product, i == j ? 1 : 0, 1e-13);
      }
    }
  }
}

TEST(PrincipalComponents, PointsOfAPlaneKeepTheirPlaces) {
  // Four points of the sphere, at heights and widths of a rectangle: less their mean they are
  // (0, +-0.6, +-0.48) and the like, already along their components.
  const UnitRows rows = Unit({0.64F, 0.6F, 0.48F, 0.64F, 0.6F, -0.48F,  //
                              0.64F, -0.6F, 0.48F, 0.64F, -0.6F, -0.48F},
                             3);
  const PrincipalPlane plane = ProjectOnPlane(rows, 1);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(plane.points[i][0], i < 2 ? 0.6 : -0.6, 1e-6) << i;
    EXPECT_NEAR(std::abs(plane.points[i][1]), 0.48, 1e-6) << i;
  }
  EXPECT_GT(plane.points[0][1], 0);
  EXPECT_NEAR(plane.explained[0], 0.36 / (0.36 + 0.2304), 1e-6);
  EXPECT_NEAR(plane.explained[1], 0.2304 / (0.36 + 0.2304), 1e-6);
}

// The components of the whole covariance, by Jacobi rotations of all E coordinates.
PrincipalPlane ByCovariance(const UnitRows& rows) {
  const size_t width = rows.width();
  const std::vector<double> mean = rows.Mean();
  std::vector<double> covariance(width * width);
  double total = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t a = 0; a < width; ++a) {
      for (size_t b = 0; b < width; ++b) {
        covariance[a * width + b] += (rows.row(i)[a] - mean[a]) * (rows.row(i)[b] - mean[b]) /
                                     static_cast<double>(rows.size());
      }
    }
  }
  for (size_t a = 0; a < width; ++a) total += covariance[a * width + a];
  const SymmetricEigen eigen = EigenOfSymmetric(covariance, width);
  PrincipalPlane plane{std::vector<PlanePoint>(rows.size()), {}};
  for (size_t c = 0; c < 2; ++c) {
    plane.explained[c] = eigen.values[c] / total;
    double largest = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t e = 0; e < width; ++e) {
        plane.points[i][c] += eigen.vectors[c * width + e] * (rows.row(i)[e] - mean[e]);
      }
      if (std::abs(plane.points[i][c]) > std::abs(largest)) largest = plane.points[i][c];
    }
    for (PlanePoint& point : plane.points) point[c] *= largest < 0 ? -1 : 1;
  }
  return plane;
}

void ExpectNear(const PrincipalPlane& a, const PrincipalPlane& b, double tolerance) {
  ASSERT_EQ(a.points.size(), b.points.size());
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(a.explained[c], b.explained[c], tolerance);
    for (size_t i = 0; i < a.points.size(); ++i) {
      ASSERT_NEAR(a.points[i][c], b.points[i][c], tolerance) << i;
    }
  }
}

// Rows whose coordinates differ in spread, as those of a real space do.
std::vector<float> Uneven(size_t count, size_t width, uint64_t seed) {
  std::vector<float> rows = RandomRows(count, width, seed);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] *= 3.0F / static_cast<float>(1 + i % width);
    rows[i] += i % width == 0 ? 2 : 0;
  }
  return rows;
}

TEST(PrincipalComponents, EqualsTheWholeCovariance) {
  for (size_t width : {3, 8, 9, 30}) {
    const UnitRows rows = Unit(Uneven(300, width, width), width);
    ExpectNear(ProjectOnPlane(rows, 1), ByCovariance(rows), 1e-7);
  }
}

TEST(PrincipalComponents, RotationChangesNothing) {
  const std::vector<float> rows = Uneven(80, 12, 4);
  ExpectNear(ProjectOnPlane(Unit(Rotated(rows, 12), 12), 1), ProjectOnPlane(Unit(rows, 12), 1),
             1e-5);
}

TEST(PrincipalComponents, ThreadsChangeNothing) {
  const UnitRows rows = Unit(Uneven(1100, 20, 6), 20);
  const PrincipalPlane one = ProjectOnPlane(rows, 1);
  for (int threads : {2, 3, 7}) EXPECT_EQ(ProjectOnPlane(rows, threads).points, one.points);
}

TEST(PrincipalComponents, Degenerate) {
  EXPECT_TRUE(ProjectOnPlane(Unit({}, 3), 1).points.empty());
  const PlanePoint zero{};
  for (const auto& rows :
       {std::vector<float>{1, 2, 3}, std::vector<float>(30, 0.3F), std::vector<float>(30, 0)}) {
    const PrincipalPlane plane = ProjectOnPlane(Unit(rows, 3), 1);
    for (const PlanePoint& point : plane.points) EXPECT_EQ(point, zero);
    EXPECT_EQ(plane.explained[0], 0);
  }
  // The rows lie on a line, then in one dimension.
  const PrincipalPlane line = ProjectOnPlane(Unit({1, 0, 0, 1}, 2), 1);
  EXPECT_NEAR(line.points[0][0], std::sqrt(0.5), 1e-7);
  EXPECT_NEAR(line.points[0][1], 0, 1e-12);
  const PrincipalPlane narrow = ProjectOnPlane(Unit({1, -1, 1}, 1), 1);
  EXPECT_NEAR(narrow.points[1][0], 4.0 / 3, 1e-12);
  EXPECT_EQ(narrow.points[1][1], 0);
}

}  // namespace
}  // namespace tandem::eval
