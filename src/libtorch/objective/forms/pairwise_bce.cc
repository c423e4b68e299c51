// losses/pairwise_bce.cc as tensor operations.
#include "libtorch/objective/device_form.h"
#include "libtorch/objective/device_math.h"
#include "libtorch/objective/device_pairs.h"

namespace tandem::objective {
extern const ObjectiveInfo kPairwiseBce;
}

namespace tandem::libtorch {
namespace {

class DevicePairwiseBce final : public BatchForm {
 public:
  explicit DevicePairwiseBce(const config::Params& params) : scale_(params.Number("scale")) {}

  objective::Evaluation Evaluate(const DeviceBatch& batch, BatchGradient* gradient) const override {
    PairLosses losses(gradient);
    ForEachPart(batch, batch.host.queries, batch.host.documents, [&](int64_t begin, int64_t count) {
      const GradedRows rows(batch, begin, count);
      losses.Begin(rows);
      for (int64_t m = 0; m < batch.labelled.columns.size(1); ++m) {
        const Leaders leaders(batch, rows, m);
        losses.Add(batch, rows, leaders, leaders.grades.gt(rows.grades), {}, scale_);
      }
    });
    return losses.Finish(batch, 1);
  }

 private:
  double scale_;
};

}  // namespace

extern const objective::DeviceFormInfo kPairwiseBceOnDevice =
    DeviceFormOf<DevicePairwiseBce, objective::kPairwiseBce>();

}  // namespace tandem::libtorch
