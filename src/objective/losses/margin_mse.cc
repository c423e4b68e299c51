// Margin-MSE: the model's margin between paired and other labelled documents follows the teacher's.
//
// It uses no in-batch negatives. Source: BiXSE section 5, baseline (Hofstaetter et al. 2020). A
// batch whose only labelled documents are the paired ones has loss 0.
#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/rows.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kMarginMsePurpose =
    R"(For learning from a teacher (a cross-encoder, say) that scored some documents of each query:
its differences of scores are reproduced.)";

constexpr std::string_view kMarginMseFormula =
    R"(L = mean over queries i and their other labelled documents j of
    ( a (s_i+ - s_ij) - (t_i+ - t_ij) )^2

a = scale, t = the teacher's scores.)";

class MarginMse final : public Formula {
 public:
  explicit MarginMse(const config::Params& params) : scale_(params.Number("scale")) {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    std::vector<double> margins;  // of each row
    for (int64_t row = 0; row < batch.queries; ++row) {
      const std::span<const LabelledCell> labelled = batch.Labelled(row);
      margins.push_back(static_cast<double>(std::count_if(
          labelled.begin(), labelled.end(),
          [&](const LabelledCell& cell) { return cell.column != batch.positive[row]; })));
    }
    const double count = std::accumulate(margins.begin(), margins.end(), 0.0);
    if (count == 0) return {.losses = std::vector<double>(margins.size())};
    const auto add = [&](int64_t row) { return AddRow(batch, row, count, gradient); };
    return MeanOverPairs(batch, MapRows(batch, add), margins);
  }

 private:
  // The sum over the row's margins; `count` is the number of margins of the batch.
  double AddRow(const Batch& batch, int64_t row, double count, Gradient* gradient) const {
    const double* scores = batch.query_document + row * batch.documents;
    const int64_t own = batch.positive[row];
    double loss = 0;
    double own_slope = 0;
    for (const LabelledCell& cell : batch.Labelled(row)) {
      if (cell.column == own) continue;
      const double error =
          scale_ * (scores[own] - scores[cell.column]) - (batch.own_teacher[row] - cell.teacher);
      loss += error * error;
      if (gradient == nullptr) continue;
      const double slope = batch.Weight(row) * 2 * scale_ * error / count;
      own_slope += slope;
      gradient->query_document[row * batch.documents + cell.column] -= slope;
    }
    if (gradient != nullptr) gradient->query_document[row * batch.documents + own] += own_slope;
    return loss;
  }

  double scale_;
};

// 1 and dot: the original compares dot products with the teacher's logits as they are.
constexpr config::ParamInfo kMarginMseParams[] = {
    config::Number("scale", "teacher units per score unit",
                   "multiplies score margins before they are compared", 1, {1e-3, 1e4})
        .Elsewhere("sentence-transformers: `MarginMSELoss` has none, which is 1"),
    SimilarityKind("dot")};

}  // namespace

extern const ObjectiveInfo kMarginMse{
    {.name = "margin_mse",
     .summary = "squared difference of the model's and the teacher's margins",
     .source = "BiXSE section 5, baseline (Hofstaetter et al. 2020)",
     .params = kMarginMseParams,
     .idle_keys = kIdleBesideTeacher,
     .studies = "bixse-cuts bixse-judges"},
    kMarginMsePurpose,
    kMarginMseFormula,
    [](const config::Params&) {
      return Needs{
          .teacher = true, .graded_own = true, .negatives = false, .separable_by_row = false};
    },
    MakeFormula<MarginMse>};

}  // namespace tandem::objective
