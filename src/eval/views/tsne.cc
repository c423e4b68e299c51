#include "eval/views/tsne.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/process/threads.h"

namespace tandem::eval {
namespace {

constexpr size_t kRowsAtOnce = 16;  // rows

// Weights exp(-rate (d_j - nearest)) of one row's squared distances, and their entropy. Distances
// count from the nearest row's, so that no weight vanishes before its turn.
struct Neighbours {
  std::vector<double> weights;  // [n], 0 for the row itself
  double sum = 0;
  double entropy = 0;  // nats
};

Neighbours NeighboursAt(std::span<const double> distances, size_t self, double nearest,
                        double rate) {
  Neighbours found{std::vector<double>(distances.size())};
  double weighted = 0;
  for (size_t j = 0; j < distances.size(); ++j) {
    if (j == self) continue;
    const double excess = distances[j] - nearest;
    found.weights[j] = std::exp(-rate * excess);
    found.sum += found.weights[j];
    weighted += excess * found.weights[j];
  }
  found.entropy = std::log(found.sum) + rate * weighted / found.sum;
  return found;
}

// p_j|i of row i: the rate is doubled or halved until it lies between two, then bisected.
std::vector<double> ConditionalAffinities(const UnitRows& rows, size_t i, double perplexity) {
  constexpr int kMostBisections = 100;
  std::vector<double> distances(rows.size());
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t j = 0; j < rows.size(); ++j) {
    distances[j] = SquaredDistance(rows.row(i), rows.row(j));
    if (j != i) nearest = std::min(nearest, distances[j]);
  }
  const double wanted = std::log(perplexity);
  double low = 0, high = std::numeric_limits<double>::infinity(), rate = 1;
  Neighbours found = NeighboursAt(distances, i, nearest, rate);
  for (int step = 0; step < kMostBisections && std::abs(found.entropy - wanted) > 1e-10; ++step) {
    (found.entropy > wanted ? low : high) = rate;
    rate = std::isinf(high) ? 2 * rate : (low + high) / 2;
    if (rate > 1e12) break;  // all rows are equally far, to rounding
    found = NeighboursAt(distances, i, nearest, rate);
  }
  for (double& weight : found.weights) weight /= found.sum;
  return found.weights;
}

double Closeness(const PlanePoint& a, const PlanePoint& b) {
  const double x = a[0] - b[0], y = a[1] - b[1];
  return 1 / (1 + x * x + y * y);
}

// The terms of one point's gradient.
struct Forces {
  PlanePoint attraction{};  // sum_j p_ij c_ij (y_i - y_j)
  PlanePoint repulsion{};   // sum_j c_ij^2 (y_i - y_j)
  double closeness = 0;     // sum_j c_ij
};

Forces ForcesOn(size_t i, std::span<const double> affinities, std::span<const PlanePoint> points) {
  Forces forces;
  const double* row = affinities.data() + i * points.size();
  for (size_t j = 0; j < points.size(); ++j) {
    if (j == i) continue;
    const double closeness = Closeness(points[i], points[j]);
    const double pull = row[j] * closeness, push = closeness * closeness;
    forces.closeness += closeness;
    for (size_t c = 0; c < 2; ++c) {
      const double difference = points[i][c] - points[j][c];
      forces.attraction[c] += pull * difference;
      forces.repulsion[c] += push * difference;
    }
  }
  return forces;
}

// Gradient descent with momentum and a gain for each coordinate.
class Descent {
 public:
  Descent(std::vector<PlanePoint> points, const TsneOptions& options)
      : points_(std::move(points)),
        step_(points_.size(), PlanePoint{}),
        gains_(points_.size(), PlanePoint{1, 1}),
        rate_(std::max(50.0, static_cast<double>(points_.size()) / (4 * options.exaggeration))) {}

  void Move(std::span<const PlanePoint> gradient, double momentum) {
    constexpr double kLeastGain = 0.01;
    for (size_t i = 0; i < points_.size(); ++i) {
      for (size_t c = 0; c < 2; ++c) {
        const bool overshot = (gradient[i][c] > 0) == (step_[i][c] > 0);
        double& gain = gains_[i][c];
        gain = std::max(kLeastGain, overshot ? gain * 0.8 : gain + 0.2);
        step_[i][c] = momentum * step_[i][c] - rate_ * gain * gradient[i][c];
        points_[i][c] += step_[i][c];
      }
    }
  }

  std::vector<PlanePoint>& points() { return points_; }

 private:
  std::vector<PlanePoint> points_;
  std::vector<PlanePoint> step_;
  std::vector<PlanePoint> gains_;
  double rate_;
};

// Scaled so that the first coordinate has a standard deviation of 1e-4; empty without spread.
std::vector<PlanePoint> Scaled(std::span<const PlanePoint> start) {
  double squares = 0, mean = 0;
  for (const PlanePoint& point : start) mean += point[0] / static_cast<double>(start.size());
  for (const PlanePoint& point : start) squares += (point[0] - mean) * (point[0] - mean);
  if (squares == 0) return {};
  const double scale = 1e-4 / std::sqrt(squares / static_cast<double>(start.size()));
  std::vector<PlanePoint> points(start.begin(), start.end());
  for (PlanePoint& point : points) point = {point[0] * scale, point[1] * scale};
  return points;
}

}  // namespace

std::vector<double> TsneAffinities(const UnitRows& rows, double perplexity, int threads) {
  const size_t n = rows.size();
  std::vector<double> affinities(n * n);
  ParallelFor(n, kRowsAtOnce, threads, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const std::vector<double> of_row = ConditionalAffinities(rows, i, perplexity);
      std::copy(of_row.begin(), of_row.end(),
                affinities.begin() + static_cast<std::ptrdiff_t>(i * n));
    }
  });
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double both = affinities[i * n + j] + affinities[j * n + i];
      affinities[i * n + j] = affinities[j * n + i] = both / (2 * static_cast<double>(n));
    }
  }
  return affinities;
}

double TsneDivergence(std::span<const double> affinities, std::span<const PlanePoint> points) {
  const size_t n = points.size();
  double total = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) total += i == j ? 0 : Closeness(points[i], points[j]);
  }
  double divergence = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      const double affinity = affinities[i * n + j];
      if (i == j || affinity == 0) continue;
      divergence += affinity * std::log(affinity * total / Closeness(points[i], points[j]));
    }
  }
  return divergence;
}

std::vector<PlanePoint> TsneGradient(std::span<const double> affinities,
                                     std::span<const PlanePoint> points, double exaggeration,
                                     int threads) {
  std::vector<Forces> forces(points.size());
  ParallelFor(points.size(), kRowsAtOnce, threads, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) forces[i] = ForcesOn(i, affinities, points);
  });
  double total = 0;
  for (const Forces& of_point : forces) total += of_point.closeness;
  std::vector<PlanePoint> gradient(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t c = 0; c < 2; ++c) {
      gradient[i][c] =
          4 * (exaggeration * forces[i].attraction[c] - forces[i].repulsion[c] / total);
    }
  }
  return gradient;
}

std::vector<PlanePoint> Tsne(const UnitRows& rows, std::span<const PlanePoint> start,
                             const TsneOptions& options) {
  const size_t n = rows.size();
  std::vector<PlanePoint> points = n < 4 ? std::vector<PlanePoint>() : Scaled(start);
  if (points.empty()) return std::vector<PlanePoint>(n);
  const double perplexity = std::min(options.perplexity, static_cast<double>(n - 1) / 3);
  const std::vector<double> affinities = TsneAffinities(rows, perplexity, options.threads);
  Descent descent(std::move(points), options);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const bool early = iteration < options.exaggerated;
    const std::vector<PlanePoint> gradient = TsneGradient(
        affinities, descent.points(), early ? options.exaggeration : 1, options.threads);
    descent.Move(gradient, early ? 0.5 : 0.8);
  }
  return std::move(descent.points());
}

}  // namespace tandem::eval
