#include "eval/views/principal_components.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/process/threads.h"
#include "base/random.h"
#include "eval/views/symmetric_eigen.h"

namespace tandem::eval {
namespace {

using Vectors = std::vector<std::vector<double>>;

constexpr size_t kComponents = 2;
// The iteration's error shrinks by the ratio of the ninth variance to the second at each step.
constexpr size_t kBlock = 8;
constexpr int kMostIterations = 300;
constexpr double kTolerance = 1e-9;
constexpr size_t kRowsOfPartialSum =
    256;  // rows whose sums are one partial sum, whatever the threads

// Modified Gram-Schmidt, twice for accuracy. A vector that the others span becomes zero.
void Orthonormalize(Vectors& vectors) {
  for (size_t i = 0; i < vectors.size(); ++i) {
    const double before = std::sqrt(Dot(vectors[i], vectors[i]));
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t j = 0; j < i; ++j) {
        const double along = Dot(vectors[i], vectors[j]);
        for (size_t e = 0; e < vectors[i].size(); ++e) vectors[i][e] -= along * vectors[j][e];
      }
    }
    const double after = std::sqrt(Dot(vectors[i], vectors[i]));
    const double scale = after > 1e-12 * before ? 1 / after : 0;
    for (double& value : vectors[i]) value *= scale;
  }
}

class PlaneSearch {
 public:
  PlaneSearch(const UnitRows& rows, int threads)
      : rows_(rows), threads_(threads), mean_(rows.Mean()) {
    RandomStream random({.seed = 0, .purpose = "principal components"});
    basis_.resize(std::min(kBlock, rows.width()));
    for (auto& vector : basis_) {
      vector.resize(rows.width());
      for (double& value : vector) value = 2 * random.Uniform() - 1;
    }
    Orthonormalize(basis_);
    for (size_t i = 0; i < rows.size(); ++i) total_ += SquaredDistance(rows.row(i), mean_);
    total_ /= static_cast<double>(rows.size());
  }

  double total_variance() const { return total_; }

  PrincipalPlane Find() {
    PrincipalPlane plane{std::vector<PlanePoint>(rows_.size()), {}};
    for (int step = 0; step < kMostIterations; ++step) {
      Project();
      TurnToRitzVectors();
      Vectors next = CovarianceTimesBasis();
      if (Converged(next)) break;
      basis_ = std::move(next);
      Orthonormalize(basis_);
    }
    Project();
    for (size_t c = 0; c < std::min(kComponents, basis_.size()); ++c) {
      plane.explained[c] = std::max(0.0, variances_[c]) / total_;
      for (size_t i = 0; i < rows_.size(); ++i) plane.points[i][c] = along_[i][c];
    }
    return plane;
  }

 private:
  // along_[i] [k] = the coordinates of row i less the mean.
  void Project() {
    std::vector<double> of_mean;
    for (const auto& vector : basis_) of_mean.push_back(Dot(mean_, vector));
    along_.assign(rows_.size(), std::vector<double>(basis_.size()));
    ParallelFor(rows_.size(), kRowsOfPartialSum, threads_, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        for (size_t k = 0; k < basis_.size(); ++k) {
          along_[i][k] = Dot(rows_.row(i), basis_[k]) - of_mean[k];
        }
      }
    });
  }

  // Turns the basis within what it spans, so that its vectors are the best guesses of eigenvectors,
  // the one of the largest variance first.
  void TurnToRitzVectors() {
    const size_t block = basis_.size();
    std::vector<double> covariance(block * block);
    for (const auto& along : along_) {
      for (size_t a = 0; a < block; ++a) {
        for (size_t b = 0; b < block; ++b) covariance[a * block + b] += along[a] * along[b];
      }
    }
    for (double& value : covariance) value /= static_cast<double>(rows_.size());
    const SymmetricEigen eigen = EigenOfSymmetric(std::move(covariance), block);
    variances_ = eigen.values;
    for (auto& along : along_) along = Turned(along, eigen);
    Vectors turned(block, std::vector<double>(rows_.width()));
    for (size_t a = 0; a < block; ++a) {
      for (size_t b = 0; b < block; ++b) {
        const double factor = eigen.vectors[a * block + b];
        for (size_t e = 0; e < rows_.width(); ++e) turned[a][e] += factor * basis_[b][e];
      }
    }
    basis_ = std::move(turned);
  }

  static std::vector<double> Turned(const std::vector<double>& along, const SymmetricEigen& eigen) {
    std::vector<double> turned(along.size());
    for (size_t a = 0; a < along.size(); ++a) {
      turned[a] = Dot(along, std::span(eigen.vectors).subspan(a * along.size(), along.size()));
    }
    return turned;
  }

  // Partial sums of kRowsOfPartialSum rows, added in their order.
  Vectors CovarianceTimesBasis() const {
    const size_t width = rows_.width(), block = basis_.size();
    std::vector<Vectors> parts((rows_.size() + kRowsOfPartialSum - 1) / kRowsOfPartialSum);
    ParallelFor(rows_.size(), kRowsOfPartialSum, threads_, [&](size_t begin, size_t end) {
      Vectors sums(block, std::vector<double>(width));
      for (size_t i = begin; i < end; ++i) {
        const std::span<const double> row = rows_.row(i);
        for (size_t k = 0; k < block; ++k) {
          const double factor = along_[i][k];
          for (size_t e = 0; e < width; ++e) sums[k][e] += factor * (row[e] - mean_[e]);
        }
      }
      parts[begin / kRowsOfPartialSum] = std::move(sums);
    });
    Vectors product(block, std::vector<double>(width));
    for (const Vectors& part : parts) {
      for (size_t k = 0; k < block; ++k) {
        for (size_t e = 0; e < width; ++e) product[k][e] += part[k][e];
      }
    }
    for (auto& vector : product) {
      for (double& value : vector) value /= static_cast<double>(rows_.size());
    }
    return product;
  }

  bool Converged(const Vectors& products) const {
    for (size_t c = 0; c < std::min(kComponents, basis_.size()); ++c) {
      double squared = 0;
      for (size_t e = 0; e < rows_.width(); ++e) {
        const double residual = products[c][e] - variances_[c] * basis_[c][e];
        squared += residual * residual;
      }
      if (std::sqrt(squared) > kTolerance * variances_[0]) return false;
    }
    return true;
  }

  const UnitRows& rows_;
  int threads_;
  std::vector<double> mean_;
  double total_ = 0;
  Vectors basis_;                  // [k, E]
  Vectors along_;                  // [n, k]
  std::vector<double> variances_;  // [k]
};

void FixSign(PrincipalPlane& plane) {
  for (size_t c = 0; c < kComponents; ++c) {
    double largest = 0;
    for (const PlanePoint& point : plane.points) {
      if (std::abs(point[c]) > std::abs(largest)) largest = point[c];
    }
    if (largest >= 0) continue;
    for (PlanePoint& point : plane.points) point[c] = -point[c];
  }
}

}  // namespace

PrincipalPlane ProjectOnPlane(const UnitRows& rows, int threads) {
  PrincipalPlane none{std::vector<PlanePoint>(rows.size()), {}};
  if (rows.size() == 0) return none;
  PlaneSearch search(rows, threads);
  // Rounding leaves equal rows a variance of some 1e-32.
  if (search.total_variance() < 1e-24) return none;
  PrincipalPlane plane = search.Find();
  FixSign(plane);
  return plane;
}

}  // namespace tandem::eval
