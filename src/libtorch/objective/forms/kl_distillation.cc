// losses/kl_distillation.cc as tensor operations.
#include <ATen/ops/logsumexp.h>

#include <limits>

#include "libtorch/objective/device_form.h"
#include "libtorch/objective/device_math.h"
#include "objective/rows.h"

namespace tandem::objective {
extern const ObjectiveInfo kKlDistillation;
}

namespace tandem::libtorch {
namespace {

class DeviceKlDistillation final : public BatchForm {
 public:
  explicit DeviceKlDistillation(const config::Params& params)
      : inverse_temperature_(1 / params.Number("temperature")),
        inverse_teacher_temperature_(1 / params.Number("teacher_temperature")) {}

  objective::Evaluation Evaluate(const DeviceBatch& batch, BatchGradient* gradient) const override {
    const LabelledTensors& labelled = batch.labelled;
    const at::Tensor log_p =
        LogShares(labelled.teachers.mul(inverse_teacher_temperature_), labelled.valid);
    const at::Tensor log_q =
        LogShares(batch.query_document.gather(1, labelled.columns).mul_(inverse_temperature_),
                  labelled.valid);
    const at::Tensor p = log_p.exp();
    if (gradient != nullptr) {
      const at::Tensor factors =
          batch.weights.mul(inverse_temperature_ / static_cast<double>(batch.host.queries));
      AddToCells(gradient->query_document, labelled.cells,
                 log_q.exp().sub_(p).mul_(Column(factors)).masked_select(labelled.valid));
    }
    return objective::MeanOverQueries(
        batch.host, ToVector(Allowed(p.mul(log_p.sub(log_q)), labelled.valid).sum(1)));
  }

 private:
  // Logarithms of the softmax of each row's labelled documents [Q, M]; elsewhere no number.
  static at::Tensor LogShares(const at::Tensor& logits, const at::Tensor& valid) {
    const at::Tensor total = at::logsumexp(
        logits.masked_fill(valid.logical_not(), -std::numeric_limits<double>::infinity()), 1);
    return logits.sub(Column(total));
  }

  double inverse_temperature_;
  double inverse_teacher_temperature_;
};

}  // namespace

extern const objective::DeviceFormInfo kKlDistillationOnDevice =
    DeviceFormOf<DeviceKlDistillation, objective::kKlDistillation>();

}  // namespace tandem::libtorch
