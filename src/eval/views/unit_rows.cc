#include "eval/views/unit_rows.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/error.h"

namespace tandem::eval {
namespace {

// Sums that run beside each other. Their number is fixed, so that a result does not depend on the
// processor's vectors.
constexpr size_t kLanes = 8;

template <typename Term>
double SumInLanes(size_t count, const Term& term) {
  std::array<double, kLanes> sums{};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += term(i + lane);
  }
  for (size_t lane = 0; i < count; ++i, ++lane) sums[lane] += term(i);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

std::vector<uint32_t> AllOf(size_t count) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

UnitRows::UnitRows(const EmbeddingRows& rows, std::span<const uint32_t> chosen,
                   std::string_view what)
    : width_(rows.width) {
  if (rows.width == 0 ? !rows.values.empty() : rows.values.size() % rows.width != 0) {
    throw std::logic_error(
        fmt::format("{}: {} values are no rows of {}", what, rows.values.size(), rows.width));
  }
  values_.reserve(chosen.size() * width_);
  for (const uint32_t index : chosen) AddRow(rows.row(index), index, what);
}

UnitRows::UnitRows(const EmbeddingRows& rows, std::string_view what)
    : UnitRows(rows, AllOf(rows.size()), what) {}

void UnitRows::AddRow(std::span<const float> row, size_t index, std::string_view what) {
  const size_t first = values_.size();
  values_.insert(values_.end(), row.begin(), row.end());
  const std::span<double> added(values_.data() + first, width_);
  const double length = std::sqrt(Dot(added, added));
  if (!std::isfinite(length)) {
    throw NumericError(fmt::format(
        "row {} of the embeddings of {} has a value that is not finite: the model's weights are "
        "broken",
        index, what));
  }
  if (length == 0) return;
  for (double& value : added) value /= length;
}

void UnitRows::Append(const UnitRows& other) {
  if (other.width_ != width_) throw std::logic_error("Append takes rows of the same width");
  values_.insert(values_.end(), other.values_.begin(), other.values_.end());
}

std::vector<double> UnitRows::Mean() const {
  std::vector<double> mean(width_);
  for (size_t i = 0; i < size(); ++i) {
    const std::span<const double> values = row(i);
    for (size_t e = 0; e < width_; ++e) mean[e] += values[e];
  }
  for (double& value : mean) value /= static_cast<double>(size());
  return mean;
}

double Dot(std::span<const double> a, std::span<const double> b) {
  return SumInLanes(a.size(), [&](size_t i) { return a[i] * b[i]; });
}

double SquaredDistance(std::span<const double> a, std::span<const double> b) {
  return SumInLanes(a.size(), [&](size_t i) { return (a[i] - b[i]) * (a[i] - b[i]); });
}

}  // namespace tandem::eval
