// losses/pairwise_bce.cc as tensor operations.
#include "objective/device/device_form.h"
#include "objective/device/device_math.h"
#include "objective/device/device_pairs.h"

namespace tandem::objective {
namespace {

class DevicePairwiseBce final : public DeviceForm {
 public:
  explicit DevicePairwiseBce(const config::Params& params) : scale_(params.Number("scale")) {}

  Evaluation Evaluate(const DeviceBatch& batch, DeviceGradient* gradient) const override {
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

extern const ObjectiveInfo kPairwiseBce;
extern const DeviceFormInfo kPairwiseBceOnDevice{&kPairwiseBce, MakeForm<DevicePairwiseBce>};

}  // namespace tandem::objective
