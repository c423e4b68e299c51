// losses/soft_infonce.cc as tensor operations.
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>

#include <limits>
#include <vector>

#include "libtorch/objective/device_form.h"
#include "libtorch/objective/device_math.h"
#include "objective/rows.h"

namespace tandem::objective {
extern const ObjectiveInfo kSoftInfoNce;
}

namespace tandem::libtorch {
namespace {

class DeviceSoftInfoNce final : public BatchForm {
 public:
  explicit DeviceSoftInfoNce(const config::Params& params)
      : inverse_temperature_(1 / params.Number("temperature")),
        spread_(params.Boolean("spread_negatives")) {}

  objective::Evaluation Evaluate(const DeviceBatch& batch, BatchGradient* gradient) const override {
    std::vector<at::Tensor> losses;
    ForEachPart(batch, batch.host.queries, batch.host.documents, [&](int64_t begin, int64_t count) {
      losses.push_back(AddRows(batch, begin, count, gradient));
    });
    return objective::MeanOverQueries(batch.host, ToVector(at::cat(losses)));
  }

 private:
  at::Tensor AddRows(const DeviceBatch& batch, int64_t begin, int64_t count,
                     BatchGradient* gradient) const {
    const at::Tensor mask = batch.negative.narrow(0, begin, count);
    const at::Tensor negatives = mask.sum(1).to(at::kDouble);
    const at::Tensor empty = negatives.eq(0);
    const at::Tensor positive = batch.own_scores.narrow(0, begin, count).mul(inverse_temperature_);
    // Above the positive: small where the two are close.
    const at::Tensor above = batch.query_document.narrow(0, begin, count)
                                 .mul(inverse_temperature_)
                                 .sub_(Column(positive));
    const at::Tensor logits =
        above.masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
    const at::Tensor max = logits.amax(1).clamp_min_(0);  // the positive's logit is 0
    const at::Tensor log_total =
        logits.sub(Column(max)).exp_().sum(1).add_(max.neg().exp_()).log_().add_(max);
    const at::Tensor grade = batch.labelled.own_grades.narrow(0, begin, count);
    const at::Tensor target = spread_ ? at::ones_like(grade) : grade;
    const at::Tensor spread =
        grade.neg().add_(1).div_(negatives).mul_(spread_ ? 1 : 0).masked_fill_(empty, 0);
    if (gradient != nullptr) {
      const at::Tensor factors =
          batch.weights.narrow(0, begin, count)
              .mul(inverse_temperature_ / static_cast<double>(batch.host.queries))
              .masked_fill_(empty, 0);
      gradient->query_document.narrow(0, begin, count)
          .add_(logits.sub(Column(log_total))
                    .exp_()
                    .mul_(Column(target))
                    .sub_(mask.mul(Column(spread)))
                    .mul_(Column(factors)));
      AddToCells(gradient->query_document, batch.own_cells.narrow(0, begin, count),
                 log_total.neg().exp_().mul_(target).sub_(grade).mul_(factors));
    }
    return target.mul(log_total)
        .sub_(spread.mul(Allowed(above, mask).sum(1)))
        .masked_fill_(empty, 0);
  }

  double inverse_temperature_;
  bool spread_;
};

}  // namespace

extern const objective::DeviceFormInfo kSoftInfoNceOnDevice =
    DeviceFormOf<DeviceSoftInfoNce, objective::kSoftInfoNce>();

}  // namespace tandem::libtorch
