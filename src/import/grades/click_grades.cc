#include "import/grades/click_grades.h"

#include <algorithm>
#include <cmath>

namespace tandem::import_data {
namespace {

struct Sums {
  double clicks = 0;
  double impressions = 0;
  double expected = 0;  // clicks of an average document
  bool has_rows = false;
};

}  // namespace

void ClickTable::Add(uint32_t pair, double clicks, double impressions,
                     std::optional<double> position) {
  uint32_t place = 0;
  if (position) {
    const double rounded = std::clamp(std::round(*position), 1.0, double{kMostPosition});
    place = static_cast<uint32_t>(rounded);
  }
  rows_.push_back({.pair = pair, .position = place, .clicks = clicks, .impressions = impressions});
  pairs_ = std::max(pairs_, pair + 1);
}

std::vector<std::optional<double>> ClickTable::Grades(const ClickGradeRules& rules,
                                                      ClickCounts* counts) const {
  Sums all;
  std::vector<Sums> places(kMostPosition + 1);
  for (const Row& row : rows_) {
    all.clicks += row.clicks;
    all.impressions += row.impressions;
    places[row.position].clicks += row.clicks;
    places[row.position].impressions += row.impressions;
  }
  const double average = all.impressions > 0 ? all.clicks / all.impressions : 0;
  const double prior = kPriorImpressions * average;
  std::vector<Sums> pairs(pairs_);
  for (const Row& row : rows_) {
    const Sums& place = places[row.position];
    const double rate = row.position == 0
                            ? average
                            : (place.clicks + prior) / (place.impressions + kPriorImpressions);
    pairs[row.pair].has_rows = true;
    pairs[row.pair].clicks += row.clicks;
    pairs[row.pair].impressions += row.impressions;
    pairs[row.pair].expected += row.impressions * rate;
  }
  *counts = {.clicks = all.clicks,
             .impressions = all.impressions,
             .has_positions = places[0].impressions < all.impressions};
  std::vector<std::optional<double>> grades(pairs_);
  for (uint32_t i = 0; i < pairs_; ++i) {
    const Sums& pair = pairs[i];
    if (!pair.has_rows) continue;  // its number belongs to a pair without clicks
    ++counts->pairs;
    if (pair.impressions < static_cast<double>(rules.least_impressions)) {
      ++counts->few_impressions;
      continue;
    }
    const double whole = pair.expected + prior;
    const double ratio = whole > 0 ? (pair.clicks + prior) / whole : 0;
    if (ratio >= kLeast && ratio < kAverage) {
      ++counts->undecided;
      continue;
    }
    grades[i] = ratio < kLeast ? 0 : ratio < kTwice ? 1 : 2;
  }
  return grades;
}

}  // namespace tandem::import_data
