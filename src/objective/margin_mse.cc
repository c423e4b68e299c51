// Margin-MSE: the model's margin between own and other labelled documents follows the teacher's.
//
// No in-batch negatives. Source: BiXSE section 5, baseline (Hofstaetter et al. 2020). A batch
// without labelled non-own documents has loss 0.

#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/rows.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kPurpose =
    R"(For learning from a teacher (a cross-encoder, say) that scored some documents of each query:
its differences of scores are reproduced.)";

constexpr std::string_view kFormula =
    R"(L = mean over queries i and their labelled non-own documents j of
    ( a (s_i+ - s_ij) - (t_i+ - t_ij) )^2

a = scale, t = the teacher's scores.)";

class MarginMse final : public Formula {
 public:
  explicit MarginMse(const config::Params& params) : scale_(params.Number("scale")) {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    double count = 0;
    for (int64_t row = 0; row < batch.queries; ++row) {
      for (const LabelledCell& cell : batch.Labelled(row)) {
        count += cell.column != batch.positive[row] ? 1 : 0;
      }
    }
    if (count == 0) return {0, 0};
    const double sum =
        SumRows(batch, [&](int64_t row) { return AddRow(batch, row, count, gradient); });
    return {sum / count, count};
  }

 private:
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
      const double slope = 2 * scale_ * error / count;
      own_slope += slope;
      gradient->query_document[row * batch.documents + cell.column] -= slope;
    }
    if (gradient != nullptr) gradient->query_document[row * batch.documents + own] += own_slope;
    return loss;
  }

  double scale_;
};

// 1 and dot: the original compares dot products with the teacher's logits as they are.
constexpr config::ParamInfo kParams[] = {
    config::Number("scale", "teacher units per score unit",
                   "multiplies score margins before they are compared", 1, {1e-3, 1e4})
        .Elsewhere("sentence-transformers: `MarginMSELoss` has none, which is 1"),
    SimilarityKind("dot")};

}  // namespace

extern const ObjectiveInfo kMarginMse{
    {.name = "margin_mse",
     .summary = "squared difference of the model's and the teacher's margins",
     .source = "BiXSE section 5, baseline (Hofstaetter et al. 2020)",
     .params = kParams,
     .idle_keys = kIdleBesideTeacher},
    kPurpose,
    kFormula,
    [](const config::Params&) {
      return Needs{
          .teacher = true, .graded_own = true, .negatives = false, .separable_by_row = false};
    },
    MakeFormula<MarginMse>};

}  // namespace tandem::objective
