// Binary preference: how often a positive comes before judged negatives; results that nobody judged
// do not count.
//
//   bpref = 1/R * sum over retrieved positives of
//           1 - min(judged negatives before it, R) / min(N, R)
//
// R and N count the judged positives and negatives (grade from 0 up to the relevance level).
#include <algorithm>

#include "eval/measure.h"

namespace tandem::eval {
namespace {

double BinaryPreference(const JudgedRanking& ranking, const Measure&) {
  const size_t positives = ranking.positive_count;
  if (positives == 0) return 0;
  const auto bound = static_cast<double>(std::min(ranking.negative_count, positives));
  double sum = 0;
  size_t negatives_before = 0;
  for (size_t i = 0; i < ranking.results.size(); ++i) {
    if (ranking.results[i].grade < 0) continue;
    if (!ranking.IsPositive(i)) {
      ++negatives_before;
    } else if (negatives_before == 0) {
      sum += 1;  // also where the query has no judged negative, so that `bound` is 0
    } else {
      sum += 1 - static_cast<double>(std::min(negatives_before, positives)) / bound;
    }
  }
  return sum / static_cast<double>(positives);
}

}  // namespace

extern const MeasureInfo kBpref{
    {.name = "bpref",
     .summary = "how often positives come before judged negatives; unjudged results do not count",
     .source = "Buckley and Voorhees 2004, as trec_eval 8.1 and later"},
    {.trec_eval_name = "bpref"},
    BinaryPreference};

}  // namespace tandem::eval
