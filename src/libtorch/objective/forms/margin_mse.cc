// losses/margin_mse.cc as tensor operations.
#include <numeric>
#include <vector>

#include "libtorch/objective/device_form.h"
#include "libtorch/objective/device_math.h"
#include "objective/rows.h"

namespace tandem::objective {
extern const ObjectiveInfo kMarginMse;
}

namespace tandem::libtorch {
namespace {

class DeviceMarginMse final : public BatchForm {
 public:
  explicit DeviceMarginMse(const config::Params& params) : scale_(params.Number("scale")) {}

  objective::Evaluation Evaluate(const DeviceBatch& batch, BatchGradient* gradient) const override {
    const LabelledTensors& labelled = batch.labelled;
    const at::Tensor others =
        labelled.columns.ne(Column(batch.positive)).logical_and_(labelled.valid);  // [Q, M]
    const std::vector<double> margins = ToVector(others.sum(1).to(at::kDouble));
    const double count = std::accumulate(margins.begin(), margins.end(), 0.0);
    if (count == 0) return {.losses = std::vector<double>(margins.size())};
    const at::Tensor margin =
        Column(batch.own_scores).sub(batch.query_document.gather(1, labelled.columns));
    const at::Tensor wanted = Column(labelled.own_teachers).sub(labelled.teachers);
    const at::Tensor error = Allowed(margin.mul(scale_).sub_(wanted), others);
    if (gradient != nullptr) {
      const at::Tensor slopes = error.mul(Column(batch.weights)).mul_(2 * scale_ / count);
      AddToCells(gradient->query_document, labelled.cells,
                 slopes.neg().masked_select(labelled.valid));
      AddToCells(gradient->query_document, batch.own_cells, slopes.sum(1));
    }
    return objective::MeanOverPairs(batch.host, ToVector(error.square().sum(1)), margins);
  }

 private:
  double scale_;
};

}  // namespace

extern const objective::DeviceFormInfo kMarginMseOnDevice =
    DeviceFormOf<DeviceMarginMse, objective::kMarginMse>();

}  // namespace tandem::libtorch
