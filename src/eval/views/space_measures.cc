#include "eval/views/space_measures.h"

#include <cmath>
#include <vector>

#include "base/process/threads.h"

namespace tandem::eval {

std::optional<double> CentroidGap(const UnitRows& a, const UnitRows& b) {
  if (a.size() == 0 || b.size() == 0) return std::nullopt;
  return std::sqrt(SquaredDistance(a.Mean(), b.Mean()));
}

std::optional<double> Alignment(const UnitRows& queries, const UnitRows& positives, double alpha) {
  if (queries.size() == 0) return std::nullopt;
  double sum = 0;
  for (size_t i = 0; i < queries.size(); ++i) {
    sum += std::pow(SquaredDistance(queries.row(i), positives.row(i)), alpha / 2);
  }
  return sum / static_cast<double>(queries.size());
}

std::optional<double> Uniformity(const UnitRows& rows, int threads, double t) {
  const size_t count = rows.size();
  if (count < 2) return std::nullopt;
  std::vector<double> of_row(count);  // over the rows after it
  ParallelFor(count, 16, threads, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      for (size_t j = i + 1; j < count; ++j) {
        of_row[i] += std::exp(-t * SquaredDistance(rows.row(i), rows.row(j)));
      }
    }
  });
  double sum = 0;
  for (const double value : of_row) sum += value;
  const auto pairs = static_cast<double>(count) * static_cast<double>(count - 1) / 2;
  return std::log(sum / pairs);
}

}  // namespace tandem::eval
