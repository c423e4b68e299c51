// The discounted gain of a ranking over that of the best ranking, for any gain of a grade.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "eval/ranking.h"

namespace tandem::eval {

// DCG@k / ideal DCG@k, where DCG@k = sum over ranks r = 1..k of gain(grade(r)) / log2(r + 1). The
// ideal ranking has all judged documents by grade, retrieved or not; grades up to 0 and documents
// without judgement gain nothing. `gain` must not decrease, and the sum of the gains be finite. 0
// where no judged document gains anything.
template <typename Gain>
double NormalizedGain(const JudgedRanking& ranking, size_t cut_off, const Gain& gain) {
  const auto discounted = [&gain](double grade, size_t index) {
    return gain(grade) / std::log2(static_cast<double>(index + 2));
  };
  double ideal = 0;
  for (size_t i = 0; i < std::min(cut_off, ranking.judged_grades.size()); ++i) {
    if (!(ranking.judged_grades[i] > 0)) break;
    ideal += discounted(ranking.judged_grades[i], i);
  }
  if (ideal == 0) return 0;
  double gained = 0;
  for (size_t i = 0; i < std::min(cut_off, ranking.results.size()); ++i) {
    if (ranking.results[i].grade > 0) gained += discounted(ranking.results[i].grade, i);
  }
  return gained / ideal;
}

// The highest grade that anybody gave; 0 without judgements.
inline double HighestGrade(const JudgedRanking& ranking) {
  return ranking.judged_grades.empty() ? 0 : ranking.judged_grades.front();
}

}  // namespace tandem::eval
