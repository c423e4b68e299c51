// Normalised discounted cumulative gain.
//
//   nDCG@k = DCG@k / ideal DCG@k,   DCG@k = sum over ranks r = 1..k of grade(r) / log2(r + 1)
//
// The ideal ranking has all judged documents by grade, retrieved or not. Gains are the grades
// themselves, whatever the relevance level; documents without judgement have gain 0.
#include <algorithm>
#include <cmath>

#include "eval/measure.h"

namespace tandem::eval {
namespace {

double Discounted(double gain, size_t index) {
  return gain / std::log2(static_cast<double>(index + 2));
}

double Ndcg(const JudgedRanking& ranking, size_t cut_off) {
  double ideal = 0;
  for (size_t i = 0; i < std::min(cut_off, ranking.ideal.size()); ++i) {
    ideal += Discounted(ranking.ideal[i], i);
  }
  if (ideal == 0) return 0;
  double gained = 0;
  for (size_t i = 0; i < std::min(cut_off, ranking.results.size()); ++i) {
    const double grade = ranking.results[i].grade;
    if (grade > 0) gained += Discounted(grade, i);
  }
  return gained / ideal;
}

}  // namespace

extern const MeasureInfo kNdcg{
    {.name = "ndcg",
     .summary = "discounted gain of the ranking over that of the best ranking; gains are grades",
     .source = "Jarvelin and Kekalainen 2002, with linear gains and log2(rank + 1), as trec_eval"},
    CutOff::kOptional,
    MeasureKind::kRanking,
    /*graded=*/true,
    "ndcg",
    "ndcg_cut",
    Ndcg};

}  // namespace tandem::eval
