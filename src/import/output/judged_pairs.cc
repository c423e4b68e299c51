#include "import/output/judged_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/summaries/hash_sample.h"

namespace tandem::import_data {

uint32_t JudgedPairs::NumberOf(uint32_t query, uint32_t document, bool* is_new) {
  const auto number = static_cast<uint32_t>(pairs_.size());
  const std::optional<uint32_t> there =
      numbers_.FindOrInsert(data::PairHash(query, document), number, [&](uint32_t other) {
        return pairs_[other].query == query && pairs_[other].document == document;
      });
  *is_new = !there;
  if (there) return *there;
  pairs_.push_back(
      {.query = query, .document = document, .grade = std::numeric_limits<double>::quiet_NaN()});
  return number;
}

void JudgedPairs::Add(uint32_t query, uint32_t document, double grade) {
  bool is_new = false;
  JudgedPair& pair = pairs_[NumberOf(query, document, &is_new)];
  if (!is_new && !std::isnan(pair.grade)) {
    ++repeated_;
    if (pair.grade != grade) ++contradicting_;
    grade = std::max(grade, pair.grade);
  }
  pair.grade = grade;
}

void JudgedPairs::AddClicks(uint32_t query, uint32_t document, double clicks, double impressions,
                            std::optional<double> position) {
  bool is_new = false;
  clicks_.Add(NumberOf(query, document, &is_new), clicks, impressions, position);
  has_clicks_ = true;
}

ClickCounts JudgedPairs::GradeClicks(const ClickGradeRules& rules) {
  ClickCounts counts;
  const std::vector<std::optional<double>> grades = clicks_.Grades(rules, &counts);
  for (size_t i = 0; i < grades.size(); ++i) {
    if (!grades[i]) continue;
    pairs_[i].grade =
        std::isnan(pairs_[i].grade) ? *grades[i] : std::max(pairs_[i].grade, *grades[i]);
  }
  numbers_.Clear();
  std::erase_if(pairs_, [](const JudgedPair& pair) { return std::isnan(pair.grade); });
  return counts;
}

}  // namespace tandem::import_data
