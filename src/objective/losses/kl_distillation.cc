// Distillation: the model's distribution over a query's labelled documents follows the teacher's.
//
// No in-batch negatives. Source: BiXSE section 2. A row with one labelled document or none
// contributes 0.
#include <cmath>

#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/log_sum.h"
#include "objective/rows.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kKlDistillationPurpose =
    R"(For learning from a teacher that scored some documents of each query: its preferences among
them are reproduced.)";

constexpr std::string_view kKlDistillationFormula =
    R"(L = 1/Q sum_i KL( softmax_j(t_ij/t') || softmax_j(s_ij/t) )

j = the labelled documents of query i, t_ij = the teacher's scores, t = temperature,
t' = teacher_temperature.)";

class KlDistillation final : public Formula {
 public:
  explicit KlDistillation(const config::Params& params)
      : inverse_temperature_(1 / params.Number("temperature")),
        inverse_teacher_temperature_(1 / params.Number("teacher_temperature")) {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    return MeanOverQueries(
        batch, MapRows(batch, [&](int64_t row) { return AddRow(batch, row, gradient); }));
  }

 private:
  double AddRow(const Batch& batch, int64_t row, Gradient* gradient) const {
    const double* scores = batch.query_document + row * batch.documents;
    LogSum model;
    LogSum teacher;
    for (const LabelledCell& cell : batch.Labelled(row)) {
      model.Add(scores[cell.column] * inverse_temperature_);
      teacher.Add(cell.teacher * inverse_teacher_temperature_);
    }
    if (model.empty()) return 0;
    const double model_log = model.log();
    const double teacher_log = teacher.log();
    const double factor =
        inverse_temperature_ / static_cast<double>(batch.queries) * batch.Weight(row);
    double loss = 0;
    for (const LabelledCell& cell : batch.Labelled(row)) {
      const double log_p = cell.teacher * inverse_teacher_temperature_ - teacher_log;
      const double log_q = scores[cell.column] * inverse_temperature_ - model_log;
      loss += std::exp(log_p) * (log_p - log_q);
      if (gradient != nullptr) {
        gradient->query_document[row * batch.documents + cell.column] +=
            factor * (std::exp(log_q) - std::exp(log_p));
      }
    }
    return loss;
  }

  double inverse_temperature_;
  double inverse_teacher_temperature_;
};

// 0.05: as infonce. 1: a teacher's logits are taken as they are.
constexpr config::ParamInfo kKlDistillationParams[] = {
    config::Number("temperature", "score units", "divides scores before the softmax", 0.05,
                   kTemperatureRange)
        .Elsewhere(
            "sentence-transformers: `student_temperature` of `DistillKLDivLoss`, which multiplies "
            "the loss by its square"),
    config::Number("teacher_temperature", "teacher units",
                   "divides teacher scores before the softmax", 1, {1e-4, 1e4})
        .Elsewhere("sentence-transformers: `teacher_temperature`"),
    SimilarityKind()};

}  // namespace

extern const ObjectiveInfo kKlDistillation{
    {.name = "kl_distillation",
     .summary = "divergence of the model's from the teacher's distribution over labelled documents",
     .source = "BiXSE section 2",
     .params = kKlDistillationParams,
     .idle_keys = kIdleBesideTeacher},
    kKlDistillationPurpose,
    kKlDistillationFormula,
    [](const config::Params&) {
      return Needs{.teacher = true, .graded_own = true, .negatives = false};
    },
    MakeFormula<KlDistillation>};

}  // namespace tandem::objective
