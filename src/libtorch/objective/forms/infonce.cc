// losses/infonce.cc as tensor operations.
#include <utility>
#include <vector>

#include "libtorch/objective/device_form.h"
#include "libtorch/objective/device_softmax.h"

namespace tandem::objective {
extern const ObjectiveInfo kInfoNce;
}

namespace tandem::libtorch {
namespace {

class DeviceInfoNce final : public BatchForm {
 public:
  explicit DeviceInfoNce(const config::Params& params)
      : options_{.temperature = params.Number("temperature")},
        both_(params.String("directions") == "both") {}

  objective::Evaluation Evaluate(const DeviceBatch& batch, BatchGradient* gradient) const override {
    const TensorBlock negatives = Negatives(batch, gradient);
    std::vector<double> losses(static_cast<size_t>(batch.host.queries));
    double loss = RowSoftmax(batch, {&negatives, 1}, options_, gradient, losses);
    if (both_) loss += ColumnSoftmax(batch, {}, options_, gradient, losses);
    return {loss, static_cast<double>(batch.host.queries), std::move(losses)};
  }

 private:
  objective::SoftmaxOptions options_;
  bool both_;
};

}  // namespace

extern const objective::DeviceFormInfo kInfoNceOnDevice =
    DeviceFormOf<DeviceInfoNce, objective::kInfoNce>();

}  // namespace tandem::libtorch
