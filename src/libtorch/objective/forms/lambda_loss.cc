// losses/lambda_loss.cc as tensor operations.
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sort.h>

#include <limits>
#include <numbers>
#include <string>

#include "libtorch/objective/device_form.h"
#include "libtorch/objective/device_math.h"
#include "libtorch/objective/device_pairs.h"

namespace tandem::objective {
extern const ObjectiveInfo kLambdaLoss;
}

namespace tandem::libtorch {
namespace {

// 1 / D(rank) [documents + 2], as InverseDiscounts of lambda_loss.cc; of rank 0, which no candidate
// has, infinite.
at::Tensor InverseDiscounts(const DeviceBatch& batch) {
  return at::arange(1, batch.host.documents + 3, batch.query_document.options())
      .log2_()
      .reciprocal_();
}

// The gains of the candidates of some rows at their ranks.
struct Ranking {
  Ranking(const DeviceBatch& batch, const GradedRows& rows, const at::Tensor& inverse_discounts) {
    const at::Tensor outside = rows.grades.isinf();
    // The order is stable: ties go by column. What is no candidate comes after all that are.
    const at::Tensor order =
        std::get<1>(rows.scores.masked_fill(outside, -std::numeric_limits<double>::infinity())
                        .sort(/*stable=*/true, /*dim=*/1, /*descending=*/true));
    ranks = at::empty_like(order);
    ranks.scatter_(1, order,
                   at::arange(1, order.size(1) + 1, order.options()).expand_as(order).contiguous());
    discounts = inverse_discounts.take(ranks);
    const at::Tensor graded = batch.labelled.grades.narrow(0, rows.begin, rows.count);
    const at::Tensor ideal = std::get<0>(graded.sort(/*dim=*/1, /*descending=*/true));
    // A document without a grade gains nothing wherever it stands.
    const at::Tensor max_dcg =
        ideal.exp2().sub_(1).mv(inverse_discounts.narrow(0, 1, ideal.size(1)));
    gains = rows.grades.masked_fill(outside, 0).exp2_().sub_(1).div_(Column(max_dcg));
    gains.masked_fill_(rows.grades.gt(0).logical_not_().logical_or_(outside), 0);
  }

  at::Tensor ranks;      // int64 [count, D], from 1
  at::Tensor discounts;  // 1 / D(rank) [count, D]
  at::Tensor gains;      // [count, D]
};

class DeviceLambdaLoss final : public BatchForm {
 public:
  explicit DeviceLambdaLoss(const config::Params& params)
      : scale_(params.Number("scale")),
        mu_(params.Number("mu")),
        weighting_(params.String("weighting")) {}

  objective::Evaluation Evaluate(const DeviceBatch& batch, BatchGradient* gradient) const override {
    const at::Tensor inverse_discounts = InverseDiscounts(batch);
    PairLosses losses(gradient);
    ForEachPart(batch, batch.host.queries, batch.host.documents, [&](int64_t begin, int64_t count) {
      const GradedRows rows(batch, begin, count);
      const Ranking ranking(batch, rows, inverse_discounts);
      losses.Begin(rows);
      for (int64_t m = 0; m < batch.labelled.columns.size(1); ++m) {
        const Leaders leaders(batch, rows, m);
        losses.Add(batch, rows, leaders, Pairs(rows, leaders),
                   Weights(ranking, leaders, inverse_discounts), scale_);
      }
    });
    return losses.Finish(batch, 1 / std::numbers::ln2);
  }

 private:
  at::Tensor Pairs(const GradedRows& rows, const Leaders& leaders) const {
    if (weighting_ != "ndcg1") return leaders.grades.gt(rows.grades);
    const at::Tensor columns = at::arange(rows.scores.size(1), leaders.columns.options());
    return columns.unsqueeze(0)
        .ne(leaders.columns)
        .logical_and_(rows.grades.isinf().logical_not_())
        .logical_and_(leaders.grades.gt(0));
  }

  // Weighs pairs of the leader and any candidate; elsewhere the result is some number.
  at::Tensor Weights(const Ranking& ranking, const Leaders& leaders,
                     const at::Tensor& inverse_discounts) const {
    const at::Tensor gain = ranking.gains.gather(1, leaders.columns);
    const at::Tensor discount = ranking.discounts.gather(1, leaders.columns);
    if (weighting_ == "ndcg1") return gain.mul(discount).expand_as(ranking.gains);
    at::Tensor weight;
    if (weighting_ != "lambdarank") {
      const at::Tensor distance =
          ranking.ranks.sub(ranking.ranks.gather(1, leaders.columns)).abs_();
      weight = inverse_discounts.take(distance).sub_(inverse_discounts.take(distance.add(1)));
      if (weighting_ == "ndcg2++") weight.mul_(mu_);
    }
    if (weighting_ != "ndcg2") {
      const at::Tensor at_ranks = ranking.discounts.sub(discount).abs_();
      weight = weight.defined() ? weight.add_(at_ranks) : at_ranks;
    }
    return weight.mul_(ranking.gains.sub(gain).abs_());
  }

  double scale_;
  double mu_;
  std::string weighting_;
};

}  // namespace

extern const objective::DeviceFormInfo kLambdaLossOnDevice =
    DeviceFormOf<DeviceLambdaLoss, objective::kLambdaLoss>();

}  // namespace tandem::libtorch
