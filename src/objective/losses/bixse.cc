// BiXSE: graded binary cross-entropy over every labelled cell and every allowed negative.
//
// Source: BiXSE eq. 2 (Tsirigotis et al.). The paper masks nothing; here known positives that are
// not labelled are left out. The bias starts where the mean score has the batch's mean label as its
// probability, so that the first steps do not only fit the prior.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "objective/candidates.h"
#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/rows.h"
#include "objective/softplus.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kBixsePurpose =
    R"(For graded judgements, and for scores that are to be probabilities: each pair is judged by
itself, and sigma(a s + b) learns its grade. Scale and bias are saved in the model's
tandem.json.)";

constexpr std::string_view kBixseFormula =
    R"(L = 1/Q sum_i sum_j -[ z_ij log sigma(x_ij) + (1 - z_ij) log sigma(-x_ij) ],  x = a s + b

a = scale, b = bias, sigma = the logistic function; j are the labelled documents of query i with
their grades z, and its allowed negatives with z = 0. b starts at logit(mean z) - a mean(s) of the
first batch.)";

// Sums over a row, not yet weighted.
struct RowSum {
  double loss = 0;
  double scale = 0;  // d loss / d scale
  double bias = 0;
};

struct Mean {
  double grade = 0;
  double score = 0;
  double cells = 0;
};

class Bixse final : public Formula {
 public:
  explicit Bixse(const config::Params& params)
      : scale_(params.Number("scale")), bias_(params.OptionalNumber("bias")) {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    const double scale = batch.scale.value_or(scale_);
    const std::optional<double> given = batch.bias ? batch.bias : bias_;
    const double bias = given ? *given : StartingBias(batch);
    const auto queries = static_cast<double>(batch.queries);
    const auto add = [&](int64_t row) { return AddRow(batch, row, scale, bias, gradient); };
    const std::vector<RowSum> rows = MapRows(batch, add);
    std::vector<double> losses;
    double scale_slope = 0, bias_slope = 0;
    for (int64_t row = 0; row < batch.queries; ++row) {
      const RowSum& sum = rows[static_cast<size_t>(row)];
      scale_slope += batch.Weight(row) * sum.scale;
      bias_slope += batch.Weight(row) * sum.bias;
      losses.push_back(sum.loss);
    }
    if (gradient != nullptr) {
      gradient->scale += scale_slope / queries;
      gradient->bias += bias_slope / queries;
    }
    return MeanOverQueries(batch, std::move(losses));
  }

  // 0 for a batch without labelled documents and negatives.
  double StartingBias(const Batch& batch) const override {
    Mean mean;
    for (int64_t row = 0; row < batch.queries; ++row) {
      ForEachCandidate(batch, row, [&](int64_t column, double grade) {
        mean.grade += grade;
        mean.score += batch.query_document[row * batch.documents + column];
        ++mean.cells;
      });
    }
    if (mean.cells == 0) return 0;
    // Where all grades are 0, or all are 1, the bias would be infinite.
    const double grade = std::clamp(mean.grade / mean.cells, 1e-6, 1 - 1e-6);
    return std::log(grade / (1 - grade)) - batch.scale.value_or(scale_) * mean.score / mean.cells;
  }

 private:
  static RowSum AddRow(const Batch& batch, int64_t row, double scale, double bias,
                       Gradient* gradient) {
    RowSum sum;
    const double share = batch.Weight(row) / static_cast<double>(batch.queries);
    ForEachCandidate(batch, row, [&](int64_t column, double grade) {
      const int64_t cell = row * batch.documents + column;
      const double score = batch.query_document[cell];
      const double x = scale * score + bias;
      // Most cells are negatives: with grade 0 the first term is 0 and need not be computed.
      const Softplus against = SoftplusOf(x);  // -log sigma(-x)
      const Softplus in_favour = grade == 0 ? Softplus() : SoftplusOf(-x);
      sum.loss += grade * in_favour.value + (1 - grade) * against.value;
      if (gradient == nullptr) return;
      const double slope = (1 - grade) * against.slope - grade * in_favour.slope;
      sum.scale += slope * score;
      sum.bias += slope;
      gradient->query_document[cell] += share * scale * slope;
    });
    return sum;
  }

  double scale_;
  std::optional<double> bias_;
};

// 20: the paper's runs. 100 is ours: the paper gives the bias a learning rate of its own, but no
// value.
constexpr config::ParamInfo kBixseParams[] = {
    config::Number("scale", "", "multiplies scores before the sigmoid", 20, {1e-3, 1e4}),
    config::OptionalNumber("bias", "", "added to scaled scores before the sigmoid",
                           "starts where the first batch's mean score has its mean grade as "
                           "probability",
                           {-1e4, 1e4}),
    config::Boolean("learn_bias", "whether the bias is trained", true),
    config::Boolean("learn_scale", "whether the scale is trained", false),
    config::Number("bias_learning_rate_factor", "",
                   "learning rate of what is trained of bias and scale, as a multiple of the "
                   "encoder's",
                   100, {0, 1e6})
        .Needs("learn_bias = true or learn_scale = true",
               [](const config::Params& params) {
                 return params.Boolean("learn_bias") || params.Boolean("learn_scale");
               }),
    SimilarityKind()};

StatePlan StatesOfBixse(const config::Params& params) {
  return {.logistic = true,
          .learn_scale = params.Boolean("learn_scale"),
          .learn_bias = params.Boolean("learn_bias"),
          .scale = params.Number("scale"),
          .bias = params.OptionalNumber("bias"),
          .learning_rate_factor = params.Number("bias_learning_rate_factor")};
}

}  // namespace

extern const ObjectiveInfo kBixse{
    {.name = "bixse",
     .summary = "binary cross-entropy with graded labels over all labelled and negative cells",
     .source = "BiXSE eq. 2 (Tsirigotis et al.)",
     .params = kBixseParams,
     .idle_keys = kIdleWithoutSameTower,
     .studies = "objectives thresholds bixse-grades bixse-batch combinations bixse-cuts "
                "bixse-judges bixse-noise bixse-bias bixse-noise-packages "
                "combinations-repaired bixse-batches"},
    kBixsePurpose,
    kBixseFormula,
    [](const config::Params&) { return Needs{.grades = true, .graded_own = true}; },
    MakeFormula<Bixse>,
    StatesOfBixse};

}  // namespace tandem::objective
