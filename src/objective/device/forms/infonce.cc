// losses/infonce.cc as tensor operations.
#include <utility>
#include <vector>

#include "objective/device/device_form.h"
#include "objective/device/device_softmax.h"

namespace tandem::objective {
namespace {

class DeviceInfoNce final : public DeviceForm {
 public:
  explicit DeviceInfoNce(const config::Params& params)
      : options_{.temperature = params.Number("temperature")},
        both_(params.String("directions") == "both") {}

  Evaluation Evaluate(const DeviceBatch& batch, DeviceGradient* gradient) const override {
    const TensorBlock negatives = Negatives(batch, gradient);
    std::vector<double> losses(static_cast<size_t>(batch.host.queries));
    double loss = RowSoftmax(batch, {&negatives, 1}, options_, gradient, losses);
    if (both_) loss += ColumnSoftmax(batch, {}, options_, gradient, losses);
    return {loss, static_cast<double>(batch.host.queries), std::move(losses)};
  }

 private:
  SoftmaxOptions options_;
  bool both_;
};

}  // namespace

extern const ObjectiveInfo kInfoNce;
extern const DeviceFormInfo kInfoNceOnDevice{&kInfoNce, MakeForm<DeviceInfoNce>};

}  // namespace tandem::objective
