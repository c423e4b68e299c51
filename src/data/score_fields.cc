#include "data/score_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tandem::data {
namespace {

// How far a sum of probabilities may be from 1: judges round what they report, and some leave out
// unlikely answers.
constexpr double kSumTolerance = 0.01;

void CheckLength(const LineReader& reader, std::string_view key, size_t found, size_t wanted) {
  if (found == wanted) return;
  throw reader.Error(fmt::format("\"{}\" has {} entries for {} documents", key, found, wanted));
}

}  // namespace

double ExpectedGrade(const LineReader& reader, std::string_view key,
                     std::span<const double> probabilities) {
  if (probabilities.size() < 2) {
    throw reader.Error(
        fmt::format("\"{}\" has {} probabilities; a judge with the grades 0..N has "
                    "N + 1, at least two",
                    key, probabilities.size()));
  }
  double mass = 0, sum = 0;
  for (size_t s = 0; s < probabilities.size(); ++s) {
    const double p = probabilities[s];
    if (!(p >= 0 && p <= 1)) {
      throw reader.Error(fmt::format("\"{}\" has the probability {}; expected 0 to 1", key, p));
    }
    mass += p;
    sum += static_cast<double>(s) * p;
  }
  if (std::abs(mass - 1) > kSumTolerance) {
    throw reader.Error(fmt::format(
        "\"{}\" has probabilities that sum to {:.4g}; expected 1: divide them by their sum", key,
        mass));
  }
  return std::min(1.0, sum / static_cast<double>(probabilities.size() - 1));
}

std::span<const double> ScoreList(const LineReader& reader, const JsonField& field, size_t count) {
  if (field.kind != JsonField::Kind::kNumbers && !field.is_empty_list()) {
    throw reader.Error(
        fmt::format("\"{}\" is {}; expected a list of numbers", field.key, KindName(field.kind)));
  }
  CheckLength(reader, field.key, field.numbers.size(), count);
  return field.numbers;
}

std::vector<double> ExpectedGradeList(const LineReader& reader, const JsonField& field,
                                      size_t count) {
  if (field.kind != JsonField::Kind::kNumberLists && !field.is_empty_list()) {
    throw reader.Error(fmt::format("\"{}\" is {}; expected a list of lists of numbers", field.key,
                                   KindName(field.kind)));
  }
  CheckLength(reader, field.key, field.number_lists.size(), count);
  std::vector<double> grades;
  for (const std::vector<double>& probabilities : field.number_lists) {
    grades.push_back(ExpectedGrade(reader, field.key, probabilities));
  }
  return grades;
}

}  // namespace tandem::data
