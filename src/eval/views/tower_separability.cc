#include "eval/views/tower_separability.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "base/process/threads.h"
#include "base/random.h"

namespace tandem::eval {
namespace {

using Vector = std::vector<double>;

// to += factor * from
void AddScaled(std::span<const double> from, double factor, std::span<double> to) {
  for (size_t e = 0; e < to.size(); ++e) to[e] += factor * from[e];
}

// One tower's rows that a discriminant learns from.
class TrainingRows {
 public:
  TrainingRows(const UnitRows& rows, std::span<const uint32_t> pairs)
      : rows_(rows), pairs_(pairs), mean_(rows.width()) {
    for (const uint32_t pair : pairs_) AddScaled(rows.row(pair), 1, mean_);
    for (double& value : mean_) value /= static_cast<double>(pairs_.size());
  }
  const Vector& mean() const { return mean_; }

  // Sum over rows of their squared distance from the mean.
  double Scatter() const {
    double sum = 0;
    for (const uint32_t pair : pairs_) sum += SquaredDistance(rows_.row(pair), mean_);
    return sum;
  }

  // to += factor * (sum over rows of (x - mean) (x - mean)^T) v
  void AddScatterTimes(const Vector& v, double factor, Vector& to) const {
    const double of_mean = Dot(mean_, v);
    double total = 0;
    for (const uint32_t pair : pairs_) {
      const double along = Dot(rows_.row(pair), v) - of_mean;
      AddScaled(rows_.row(pair), factor * along, to);
      total += along;
    }
    AddScaled(mean_, -factor * total, to);
  }

 private:
  const UnitRows& rows_;
  std::span<const uint32_t> pairs_;
  Vector mean_;
};

class Discriminant {
 public:
  Discriminant(const UnitRows& queries, const UnitRows& positives, std::span<const uint32_t> pairs,
               double shrinkage)
      : queries_(queries, pairs), positives_(positives, pairs) {
    const auto rows = static_cast<double>(2 * pairs.size());
    of_scatter_ = (1 - shrinkage) / rows;
    of_identity_ = shrinkage * (queries_.Scatter() + positives_.Scatter()) / rows /
                   static_cast<double>(queries.width());
    Vector difference = positives_.mean();
    AddScaled(queries_.mean(), -1, difference);
    Vector middle = positives_.mean();
    AddScaled(queries_.mean(), 1, middle);
    // Where each tower is one point, its covariance is zero and every w along the difference tells
    // them apart.
    direction_ = of_identity_ > 0 ? Solve(difference) : difference;
    threshold_ = Dot(middle, direction_) / 2;
  }

  // Above 0: a document. 0: undecided.
  double Score(std::span<const double> row) const { return Dot(row, direction_) - threshold_; }

 private:
  Vector CovarianceTimes(const Vector& v) const {
    Vector product(v.size());
    AddScaled(v, of_identity_, product);
    queries_.AddScatterTimes(v, of_scatter_, product);
    positives_.AddScatterTimes(v, of_scatter_, product);
    return product;
  }

  // C^-1 b by conjugate gradients, which need C's products only and not its E^2 numbers. Shrinkage
  // bounds the condition of C, so that they end in tens of steps; at kMostConjugateSteps the
  // direction is that of a slightly stronger shrinkage.
  Vector Solve(const Vector& b) const {
    constexpr int kMostConjugateSteps = 1000;
    constexpr double kTolerance = 1e-20;  // of the squared residual
    Vector solution(b.size());
    Vector residual = b;
    Vector direction = b;
    const double start = Dot(b, b);
    double squared = start;
    for (int step = 0; step < kMostConjugateSteps && squared > kTolerance * start; ++step) {
      const Vector product = CovarianceTimes(direction);
      const double length = squared / Dot(direction, product);
      AddScaled(direction, length, solution);
      AddScaled(product, -length, residual);
      const double next = Dot(residual, residual);
      for (double& value : direction) value *= next / squared;
      AddScaled(residual, 1, direction);
      squared = next;
    }
    return solution;
  }

  TrainingRows queries_;
  TrainingRows positives_;
  double of_scatter_ = 0;
  double of_identity_ = 0;
  Vector direction_;
  double threshold_ = 0;
};

// Twice the rows of a fold that are told right; an undecided row counts half.
size_t DoubledHits(const Discriminant& discriminant, const UnitRows& queries,
                   const UnitRows& positives, std::span<const uint32_t> fold) {
  const auto doubled = [](double score) -> size_t { return score > 0 ? 2 : score == 0 ? 1 : 0; };
  size_t hits = 0;
  for (const uint32_t pair : fold) {
    hits += doubled(-discriminant.Score(queries.row(pair)));
    hits += doubled(discriminant.Score(positives.row(pair)));
  }
  return hits;
}

}  // namespace

std::optional<double> LinearSeparability(const UnitRows& queries, const UnitRows& positives,
                                         const SeparabilityOptions& options) {
  const size_t pairs = queries.size();
  if (pairs < 2) return std::nullopt;
  std::vector<uint32_t> order(pairs);
  std::iota(order.begin(), order.end(), 0);
  RandomStream random({.seed = options.seed, .purpose = "separability folds"});
  random.Shuffle(std::span(order));
  const size_t folds = std::min(options.folds, pairs);
  std::vector<size_t> doubled(folds);
  ParallelFor(folds, 1, options.threads, [&](size_t begin, size_t end) {
    for (size_t fold = begin; fold < end; ++fold) {
      const size_t first = pairs * fold / folds;
      const size_t count = pairs * (fold + 1) / folds - first;
      std::vector<uint32_t> others = order;
      const auto from = others.begin() + static_cast<std::ptrdiff_t>(first);
      others.erase(from, from + static_cast<std::ptrdiff_t>(count));
      const Discriminant discriminant(queries, positives, others, options.shrinkage);
      doubled[fold] =
          DoubledHits(discriminant, queries, positives, std::span(order).subspan(first, count));
    }
  });
  const size_t hits = std::accumulate(doubled.begin(), doubled.end(), size_t{0});
  return static_cast<double>(hits) / (4 * static_cast<double>(pairs));
}

}  // namespace tandem::eval
