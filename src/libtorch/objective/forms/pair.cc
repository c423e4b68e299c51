// losses/pair.cc as tensor operations.
#include <utility>
#include <vector>

#include "libtorch/objective/device_form.h"
#include "libtorch/objective/device_softmax.h"

namespace tandem::objective {
extern const ObjectiveInfo kPair;
}

namespace tandem::libtorch {
namespace {

class DevicePair final : public BatchForm {
 public:
  explicit DevicePair(const config::Params& params)
      : query_{.temperature = params.Number("temperature"), .share = 1 - params.Number("alpha")},
        document_{.temperature = params.Number("temperature"),
                  .share = params.Number("alpha"),
                  .include_positive = params.Boolean("include_positive")},
        both_(params.String("directions") == "both") {}

  objective::Evaluation Evaluate(const DeviceBatch& batch, BatchGradient* gradient) const override {
    const TensorBlock negatives = Negatives(batch, gradient);
    const TensorBlock documents = SameTowerDocuments(batch, gradient);
    std::vector<double> losses(static_cast<size_t>(batch.host.queries));
    double loss = RowSoftmax(batch, {&negatives, 1}, query_, gradient, losses);
    if (both_) loss += ColumnSoftmax(batch, {}, query_, gradient, losses);
    loss += RowSoftmax(batch, {&documents, 1}, document_, gradient, losses);
    return {loss, static_cast<double>(batch.host.queries), std::move(losses)};
  }

 private:
  objective::SoftmaxOptions query_;
  objective::SoftmaxOptions document_;
  bool both_;
};

}  // namespace

extern const objective::DeviceFormInfo kPairOnDevice = DeviceFormOf<DevicePair, objective::kPair>();

}  // namespace tandem::libtorch
