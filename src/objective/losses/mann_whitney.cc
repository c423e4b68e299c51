// The Mann-Whitney loss: a smooth form of 1 - AUC over all pairs of a positive and a negative.
//
// Source: MW paper eq. 2 and 3. Differs: eq. 3 has neither temperature nor 1/N; `normalization` =
// "sum" leaves out 1/N. Masked cells (copies, known positives) are not negatives. The score bank is
// ours: with it the loss is nearer to the AUC of the whole data than to the batch's. A pair weighs
// as the query of its positive; pairs of banked positives weigh 1. The loss of a query is the mean
// over the pairs whose positive is its paired document ("sum": the sum). A batch without negatives
// has loss 0.
#include <algorithm>
#include <utility>
#include <vector>

#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/losses/mann_whitney/mann_whitney_options.h"
#include "objective/losses/mann_whitney/mann_whitney_pairs.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kMannWhitneyPurpose =
    R"(Aims at scores that one threshold can serve for all queries: every positive is pushed above
the negatives of every query, as the pooled AUC counts it. infonce does not see how queries lie
to each other.)";

constexpr std::string_view kMannWhitneyFormula =
    R"(L = 1/(P N) sum over positives i and negatives (k, j) of ANY query of
    softplus( (s_kj - s_i+) / t ),  softplus(x) = log(1 + e^x)

t = temperature; P paired documents, N allowed negatives of all queries together. With a bank,
scores kept from earlier steps are positives and negatives too; they carry no gradient.)";

class MannWhitney final : public Formula {
 public:
  explicit MannWhitney(const config::Params& params) : options_(params) {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    const std::vector<double> positives = Positives(batch);
    const double negatives = static_cast<double>(CountNegatives(batch));
    const double divisor =
        static_cast<double>(positives.size()) * (options_.mean ? negatives : 1.0);
    const auto queries = static_cast<size_t>(batch.queries);
    if (negatives == 0) return {.losses = std::vector<double>(queries)};
    const PairTask task{.batch = batch,
                        .positives = positives,
                        .temperature = options_.temperature,
                        .weights = {batch.weights, batch.weights == nullptr ? 0 : queries},
                        .own = queries,
                        .cell_gradient = gradient == nullptr ? nullptr : gradient->query_document,
                        .slope_factor = 1 / (options_.temperature * divisor)};
    PairSums sums = options_.FastWins(static_cast<double>(positives.size()), negatives)
                        ? SumPairsFast(task)
                        : SumPairsTiled(task);
    for (int64_t i = 0; i < batch.queries && gradient != nullptr; ++i) {
      gradient->query_document[i * batch.documents + batch.positive[i]] -=
          batch.Weight(i) * task.slope_factor * sums.positive_slopes[static_cast<size_t>(i)];
    }
    if (options_.mean) {
      for (double& loss : sums.positive_losses) loss /= negatives;
    }
    return {sums.loss / divisor, divisor, std::move(sums.positive_losses)};
  }

 private:
  // The scores of the batch's paired documents, then the banked positives.
  static std::vector<double> Positives(const Batch& batch) {
    std::vector<double> positives;
    for (int64_t i = 0; i < batch.queries; ++i) positives.push_back(batch.PositiveScore(i));
    positives.insert(positives.end(), batch.bank_positives.begin(), batch.bank_positives.end());
    return positives;
  }

  static int64_t CountNegatives(const Batch& batch) {
    const bool* end = batch.negative + batch.queries * batch.documents;
    return std::count(batch.negative, end, true) +
           static_cast<int64_t>(batch.bank_negatives.size());
  }

  MannWhitneyOptions options_;
};

constexpr config::ChoiceInfo kNormalizations[] = {
    {"mean", "over all pairs"}, {"sum", "over positives of the sum over negatives (eq. 3)"}};

constexpr config::ChoiceInfo kForms[] = {
    {"auto", "whichever is faster"},
    {"tiled", "every pair by itself: exact, time O(P N)"},
    {"fast", "by expansions: time O(P + N), relative error below 2e-12"}};

// 0.01: "temperature 0.01 for both" losses in the MW paper's experiments.
constexpr config::ParamInfo kMannWhitneyParams[] = {
    config::Number("temperature", "score units", "divides score differences before the sigmoid",
                   0.01, kTemperatureRange)
        .Elsewhere("as in infonce: sentence-transformers' `scale` is 1 / temperature"),
    config::Choice("normalization", "what the sum over pairs becomes", "mean", kNormalizations),
    config::Integer("bank", "scores",
                    "how many of the latest positive scores, and of the latest negative ones, are "
                    "kept to compare batches with; 0: none",
                    0, {0, 1e12}),
    config::Integer("bank_max_age", "steps", "kept scores are dropped after so many; 0: never", 0,
                    {0, 1e9})
        .Needs("bank above 0",
               [](const config::Params& params) { return params.Integer("bank") > 0; }),
    config::Choice("form", "how the pairs are summed up", "auto", kForms),
    SimilarityKind()};

StatePlan StatesOfMannWhitney(const config::Params& params) {
  return {.bank = params.Integer("bank"), .bank_max_age = params.Integer("bank_max_age")};
}

}  // namespace

extern const ObjectiveInfo kMannWhitney{
    {.name = "mann_whitney",
     .summary = "smooth 1 - AUC: every paired document above every query's negatives",
     .source = "MW paper eq. 2 and 3, with temperature and 1/N",
     .params = kMannWhitneyParams,
     .idle_keys = kIdleWithoutSameTower,
     .studies = "thresholds mann-whitney-auc objectives tuning combinations "
                "mann-whitney-sizes bixse-noise bixse-noise-packages combinations-stages "
                "mann-whitney-negatives combinations-repaired mann-whitney-bank "
                "mann-whitney-squad mann-whitney-temperature"},
    kMannWhitneyPurpose,
    kMannWhitneyFormula,
    [](const config::Params&) { return Needs{.separable_by_row = false}; },
    MakeFormula<MannWhitney>,
    StatesOfMannWhitney};

}  // namespace tandem::objective
