// Pairwise binary cross-entropy (RankNet): of two documents the one with the higher grade wins.
//
// Source: BiXSE appendix (Burges et al. 2005). Only documents with a grade above 0 lead a pair, so
// that a query costs O(labelled x D) time and nothing beside the scores. A batch without pairs has
// loss 0.
#include <numeric>
#include <vector>

#include "objective/candidates.h"
#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/rows.h"
#include "objective/softplus.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kPairwiseBcePurpose =
    R"(For graded judgements of which only the order is trusted.)";

constexpr std::string_view kPairwiseBceFormula =
    R"(L = mean over (i, j, k) with z_ij > z_ik of -log sigma( a (s_ij - s_ik) )

a = scale, sigma = the logistic function; j and k are labelled documents of query i with their
grades z, or allowed negatives with z = 0.)";

double CountPairs(const Batch& batch, int64_t row) {
  double pairs = 0;
  for (const LabelledCell& leader : batch.Labelled(row)) {
    if (leader.grade <= 0) continue;
    ForEachCandidate(batch, row,
                     [&](int64_t, double grade) { pairs += leader.grade > grade ? 1 : 0; });
  }
  return pairs;
}

class PairwiseBce final : public Formula {
 public:
  explicit PairwiseBce(const config::Params& params) : scale_(params.Number("scale")) {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    const std::vector<double> pairs =
        MapRows(batch, [&](int64_t row) { return CountPairs(batch, row); });
    const double count = std::accumulate(pairs.begin(), pairs.end(), 0.0);
    if (count == 0) return {.losses = std::vector<double>(pairs.size())};
    const auto add = [&](int64_t row) { return AddRow(batch, row, count, gradient); };
    return MeanOverPairs(batch, MapRows(batch, add), pairs);
  }

 private:
  // The sum over the row's pairs; `pairs` is the number of pairs of the batch.
  double AddRow(const Batch& batch, int64_t row, double pairs, Gradient* gradient) const {
    const double* scores = batch.query_document + row * batch.documents;
    double* slopes =
        gradient == nullptr ? nullptr : gradient->query_document + row * batch.documents;
    const double factor = scale_ / pairs * batch.Weight(row);
    double loss = 0;
    for (const LabelledCell& leader : batch.Labelled(row)) {
      if (leader.grade <= 0) continue;
      double leader_slope = 0;
      ForEachCandidate(batch, row, [&](int64_t column, double grade) {
        if (!(leader.grade > grade)) return;
        const Softplus pair = SoftplusOf(scale_ * (scores[column] - scores[leader.column]));
        loss += pair.value;
        leader_slope += pair.slope;
        if (slopes != nullptr) slopes[column] += factor * pair.slope;
      });
      if (slopes != nullptr) slopes[leader.column] -= factor * leader_slope;
    }
    return loss;
  }

  double scale_;
};

// 20: the scale of the BiXSE runs.
constexpr config::ParamInfo kPairwiseBceParams[] = {
    config::Number("scale", "", "multiplies score differences before the sigmoid", 20, {1e-3, 1e4})
        .Elsewhere("sentence-transformers: `sigma` of the cross-encoders' `RankNetLoss`"),
    SimilarityKind()};

}  // namespace

extern const ObjectiveInfo kPairwiseBce{
    {.name = "pairwise_bce",
     .summary = "logistic loss of every pair of documents with different grades",
     .source = "BiXSE appendix (RankNet, Burges et al. 2005)",
     .params = kPairwiseBceParams,
     .idle_keys = kIdleWithoutSameTower,
     .studies = "objectives"},
    kPairwiseBcePurpose,
    kPairwiseBceFormula,
    [](const config::Params&) {
      return Needs{.grades = true, .graded_own = true, .separable_by_row = false};
    },
    MakeFormula<PairwiseBce>};

}  // namespace tandem::objective
