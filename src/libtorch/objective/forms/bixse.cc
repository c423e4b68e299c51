// losses/bixse.cc as tensor operations: negatives a part of the rows at a time, labelled cells all
// at once.
#include <ATen/ops/cat.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "libtorch/objective/device_form.h"
#include "libtorch/objective/device_math.h"
#include "objective/rows.h"

namespace tandem::objective {
extern const ObjectiveInfo kBixse;
}

namespace tandem::libtorch {
namespace {

// Sums over each row of a batch, not yet weighted: [Q] together.
struct RowSums {
  std::vector<at::Tensor> losses, scale_slopes, bias_slopes;
};

struct Logistic {
  double scale = 0;
  double bias = 0;
};

class DeviceBixse final : public BatchForm {
 public:
  explicit DeviceBixse(const config::Params& params)
      : scale_(params.Number("scale")), bias_(params.OptionalNumber("bias")) {}

  objective::Evaluation Evaluate(const DeviceBatch& batch, BatchGradient* gradient) const override {
    const std::optional<double> given = batch.host.bias ? batch.host.bias : bias_;
    const Logistic logistic{batch.host.scale.value_or(scale_),
                            given ? *given : StartingBias(batch)};
    RowSums sums;
    ForEachPart(batch, batch.host.queries, batch.host.documents, [&](int64_t begin, int64_t count) {
      AddNegatives(batch, begin, count, logistic, gradient, sums);
    });
    const at::Tensor losses = at::cat(sums.losses);
    const at::Tensor labelled = LabelledScores(batch);
    const auto [in_favour, against] = Sides(labelled, logistic);
    const at::Tensor& grades = batch.labelled.grades;
    const at::Tensor against_share = grades.neg().add_(1);
    losses.add_(Allowed(grades.mul(in_favour.value).add_(against_share.mul(against.value)),
                        batch.labelled.valid)
                    .sum(1));
    if (gradient != nullptr) {
      const at::Tensor slopes = Allowed(
          against_share.mul(against.slope).sub_(grades.mul(in_favour.slope)), batch.labelled.valid);
      AddToCells(
          gradient->query_document, batch.labelled.cells,
          slopes.mul(Column(SlopeFactors(batch, logistic))).masked_select(batch.labelled.valid));
      AddStates(batch, at::cat(sums.scale_slopes).add_(slopes.mul(labelled).sum(1)),
                at::cat(sums.bias_slopes).add_(slopes.sum(1)), *gradient);
    }
    return objective::MeanOverQueries(batch.host, ToVector(losses));
  }

  double StartingBias(const DeviceBatch& batch) const override {
    const LabelledTensors& labelled = batch.labelled;
    double score = Allowed(LabelledScores(batch), labelled.valid).sum().item<double>();
    double cells = static_cast<double>(labelled.cells.size(0));
    ForEachPart(batch, batch.host.queries, batch.host.documents, [&](int64_t begin, int64_t count) {
      const at::Tensor mask = labelled.negative.narrow(0, begin, count);
      score += Allowed(batch.query_document.narrow(0, begin, count), mask).sum().item<double>();
      cells += static_cast<double>(mask.sum().item<int64_t>());
    });
    if (cells == 0) return 0;
    const double mean = labelled.grades.sum().item<double>() / cells;
    const double grade = std::clamp(mean, 1e-6, 1 - 1e-6);  // as in bixse.cc
    return std::log(grade / (1 - grade)) - batch.host.scale.value_or(scale_) * score / cells;
  }

 private:
  struct SidesOfCells {
    SoftplusTensors in_favour, against;  // -log sigma(x), -log sigma(-x)
  };

  static at::Tensor LabelledScores(const DeviceBatch& batch) {  // [Q, M]
    return batch.query_document.gather(1, batch.labelled.columns);
  }

  static SidesOfCells Sides(const at::Tensor& scores, const Logistic& logistic) {
    const at::Tensor x = scores.mul(logistic.scale).add_(logistic.bias);
    return {SoftplusOf(x.neg()), SoftplusOf(x)};
  }

  // d loss / d score over the slope, of each row's cells. [Q]
  static at::Tensor SlopeFactors(const DeviceBatch& batch, const Logistic& logistic) {
    return batch.weights.mul(logistic.scale / static_cast<double>(batch.host.queries));
  }

  static void AddNegatives(const DeviceBatch& batch, int64_t begin, int64_t count,
                           const Logistic& logistic, BatchGradient* gradient, RowSums& sums) {
    const at::Tensor scores = batch.query_document.narrow(0, begin, count);
    const at::Tensor mask = batch.labelled.negative.narrow(0, begin, count);
    const SoftplusTensors against = SoftplusOf(scores.mul(logistic.scale).add_(logistic.bias));
    sums.losses.push_back(Allowed(against.value, mask).sum(1));
    if (gradient == nullptr) return;
    const at::Tensor slopes = Allowed(against.slope, mask);
    sums.scale_slopes.push_back(slopes.mul(scores).sum(1));
    sums.bias_slopes.push_back(slopes.sum(1));
    gradient->query_document.narrow(0, begin, count)
        .addcmul_(slopes, Column(SlopeFactors(batch, logistic).narrow(0, begin, count)));
  }

  static void AddStates(const DeviceBatch& batch, const at::Tensor& scale_slopes,
                        const at::Tensor& bias_slopes, BatchGradient& gradient) {
    const auto queries = static_cast<double>(batch.host.queries);
    gradient.scale += objective::WeightedSum(batch.host, ToVector(scale_slopes)) / queries;
    gradient.bias += objective::WeightedSum(batch.host, ToVector(bias_slopes)) / queries;
  }

  double scale_;
  std::optional<double> bias_;
};

}  // namespace

extern const objective::DeviceFormInfo kBixseOnDevice =
    DeviceFormOf<DeviceBixse, objective::kBixse>();

}  // namespace tandem::libtorch
