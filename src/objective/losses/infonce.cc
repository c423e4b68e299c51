// InfoNCE with in-batch and hard negatives.
//
// Source: MW paper eq. 4, after van den Oord et al. 2018; both directions: SamToNe section 2.
// Differs: masked cells (copies, known positives) are left out of the sum. A row without negatives
// contributes 0.
#include <utility>
#include <vector>

#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/softmax.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kInfoNcePurpose =
    R"(For ranking: each query learns to tell its paired document from the rest of the batch. Scores
are comparable within a query only; larger batches and hard negatives make the task harder.)";

constexpr std::string_view kInfoNceFormula =
    R"(L = 1/Q sum_i -log( e^{s_i+/t} / (e^{s_i+/t} + sum_{j in neg(i)} e^{s_ij/t}) )

t = temperature, neg(i) = the documents that the mask of query i allows. directions = "both" adds
the same loss of each paired document i against the queries j for which it is an allowed
negative.)";

class InfoNce final : public Formula {
 public:
  explicit InfoNce(const config::Params& params)
      : options_{.temperature = params.Number("temperature")},
        both_(params.String("directions") == "both") {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    const CandidateBlock negatives = Negatives(batch, gradient);
    std::vector<double> losses(static_cast<size_t>(batch.queries));
    double loss = RowSoftmax(batch, {&negatives, 1}, options_, gradient, losses);
    if (both_) loss += ColumnSoftmax(batch, {}, options_, gradient, losses);
    return {loss, static_cast<double>(batch.queries), std::move(losses)};
  }

 private:
  SoftmaxOptions options_;
  bool both_;
};

// 0.05: sentence-transformers' scale of 20. The papers' runs have 0.01 to 0.05.
constexpr config::ParamInfo kInfoNceParams[] = {Temperature(0.05), Directions(), SimilarityKind()};

}  // namespace

extern const ObjectiveInfo kInfoNce{
    {.name = "infonce",
     .summary = "softmax cross-entropy of the paired document against the negatives",
     .source = "MW paper eq. 4; van den Oord et al. 2018",
     .params = kInfoNceParams,
     .idle_keys = kIdleWithoutSameTower,
     .studies = "objectives thresholds mann-whitney-auc tuning opera-pruning "
                "samtone-duplicates bixse-grades bixse-batch combinations opera-levels "
                "bixse-cuts mann-whitney-sizes opera-noise samtone-towers bixse-noise "
                "bixse-noise-packages combinations-stages mann-whitney-negatives "
                "opera-intervals opera-passes combinations-repaired samtone-projection "
                "bixse-batches mann-whitney-squad opera-regime mann-whitney-temperature "
                "samtone-steps"},
    kInfoNcePurpose,
    kInfoNceFormula,
    [](const config::Params& params) {
      return Needs{.separable_by_row = params.String("directions") != "both"};
    },
    MakeFormula<InfoNce>};

}  // namespace tandem::objective
