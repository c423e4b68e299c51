// InfoNCE with a soft target: the paired document's grade instead of 1.
//
// Source: BiXSE section 5, the baseline of Cheng et al. 2023; without `spread_negatives` what its
// authors' script runs. A row without negatives contributes 0.
#include <cmath>

#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/log_sum.h"
#include "objective/rows.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kSoftInfoNcePurpose =
    R"(A baseline for graded judgements: infonce whose target is as soft as the grade.)";

constexpr std::string_view kSoftInfoNceFormula =
    R"(L = 1/Q sum_i sum_j -y_ij log( e^{s_ij/t} / sum_k e^{s_ik/t} )

t = temperature; j and k are the paired document and neg(i), the documents that the mask of query i
allows. y of the paired document is its grade z; y of a negative is (1 - z)/|neg(i)| with
spread_negatives, else 0.)";

class SoftInfoNce final : public Formula {
 public:
  explicit SoftInfoNce(const config::Params& params)
      : inverse_temperature_(1 / params.Number("temperature")),
        spread_(params.Boolean("spread_negatives")) {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    return MeanOverQueries(
        batch, MapRows(batch, [&](int64_t row) { return AddRow(batch, row, gradient); }));
  }

 private:
  struct Targets {
    double own = 0;
    double negative = 0;
    double sum = 0;
  };

  double AddRow(const Batch& batch, int64_t row, Gradient* gradient) const {
    const double* scores = batch.query_document + row * batch.documents;
    const bool* negative = batch.negative + row * batch.documents;
    const double positive = scores[batch.positive[row]] * inverse_temperature_;
    LogSum total;
    double negatives = 0;
    double above_positive = 0;  // sum over negatives of (s_ij - s_i+)/t: small where they are close
    for (int64_t j = 0; j < batch.documents; ++j) {
      if (!negative[j]) continue;
      total.Add(scores[j] * inverse_temperature_ - positive);
      above_positive += scores[j] * inverse_temperature_ - positive;
      ++negatives;
    }
    if (negatives == 0) return 0;
    total.Add(0);
    const double log_total = total.log();
    const double grade = batch.own_grades[row];
    const double spread = spread_ ? (1 - grade) / negatives : 0;
    const Targets targets{grade, spread, spread_ ? 1 : grade};
    if (gradient != nullptr) AddRowGradient(batch, row, targets, positive + log_total, gradient);
    return targets.sum * log_total - spread * above_positive;
  }

  void AddRowGradient(const Batch& batch, int64_t row, const Targets& targets, double log_total,
                      Gradient* gradient) const {
    const double factor =
        inverse_temperature_ / static_cast<double>(batch.queries) * batch.Weight(row);
    for (int64_t j = 0; j < batch.documents; ++j) {
      const int64_t cell = row * batch.documents + j;
      const bool own = j == batch.positive[row];
      if (!own && !batch.negative[cell]) continue;
      const double share = std::exp(batch.query_document[cell] * inverse_temperature_ - log_total);
      gradient->query_document[cell] +=
          factor * (targets.sum * share - (own ? targets.own : targets.negative));
    }
  }

  double inverse_temperature_;
  bool spread_;
};

// 0.05: as infonce, whose soft form it is.
constexpr config::ParamInfo kSoftInfoNceParams[] = {
    Temperature(0.05),
    config::Boolean("spread_negatives", "whether 1 minus the grade is spread over the negatives",
                    true),
    SimilarityKind()};

}  // namespace

extern const ObjectiveInfo kSoftInfoNce{
    {.name = "soft_infonce",
     .summary = "InfoNCE whose target is the paired document's grade",
     .source = "BiXSE section 5, baseline (Cheng et al. 2023)",
     .params = kSoftInfoNceParams,
     .idle_keys = kIdleWithoutSameTower,
     .studies = "objectives bixse-noise-packages bixse-noise"},
    kSoftInfoNcePurpose,
    kSoftInfoNceFormula,
    [](const config::Params&) { return Needs{.grades = true, .graded_own = true}; },
    MakeFormula<SoftInfoNce>};

}  // namespace tandem::objective
