// losses/samtone.cc as tensor operations.
#include <array>
#include <utility>
#include <vector>

#include "libtorch/objective/device_form.h"
#include "libtorch/objective/device_softmax.h"

namespace tandem::objective {
extern const ObjectiveInfo kSamToNe;
}

namespace tandem::libtorch {
namespace {

class DeviceSamToNe final : public BatchForm {
 public:
  explicit DeviceSamToNe(const config::Params& params)
      : options_{.temperature = params.Number("temperature")},
        both_directions_(params.String("directions") == "both"),
        both_towers_(params.String("same_tower") == "both") {}

  objective::Evaluation Evaluate(const DeviceBatch& batch, BatchGradient* gradient) const override {
    const std::array blocks = {Negatives(batch, gradient), SameTowerQueries(batch, gradient)};
    std::vector<double> losses(static_cast<size_t>(batch.host.queries));
    double loss = RowSoftmax(batch, blocks, options_, gradient, losses);
    if (both_directions_) {
      const TensorBlock same_tower =
          both_towers_ ? SameTowerDocuments(batch, gradient) : TensorBlock();
      loss += ColumnSoftmax(batch, same_tower, options_, gradient, losses);
    }
    return {loss, static_cast<double>(batch.host.queries), std::move(losses)};
  }

 private:
  objective::SoftmaxOptions options_;
  bool both_directions_;
  bool both_towers_;
};

}  // namespace

extern const objective::DeviceFormInfo kSamToNeOnDevice =
    DeviceFormOf<DeviceSamToNe, objective::kSamToNe>();

}  // namespace tandem::libtorch
