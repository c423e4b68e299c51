// LambdaLoss: pairwise logistic loss weighted by what a swap would change in nDCG.
//
// Source: Wang et al. 2018; BiXSE appendix. Only documents with a grade above 0 lead a pair, so
// that a query costs O(labelled x D + D log D) time and O(D) memory. A batch without pairs has
// loss 0.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include "objective/candidates.h"
#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/rows.h"
#include "objective/softplus.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kLambdaLossPurpose =
    R"(For graded judgements, when what counts is the order near the top (nDCG).)";

constexpr std::string_view kLambdaLossFormula =
    R"(L = mean over pairs (i, j, k) of -w log2 sigma( a (s_ij - s_ik) )

a = scale, sigma = the logistic function; j and k are labelled documents of query i with their
grades z, or allowed negatives with z = 0. Pairs: z_ij > z_ik; for ndcg1 every k but j, for each j
with z_ij > 0. G = (2^z - 1)/maxDCG, r = rank by score among the candidates of the query (ties by
column), D(r) = log2(1 + r). w has no gradient; by weighting:
    ndcg1       G_j / D(r_j)
    ndcg2       |1/D(|r_j - r_k|) - 1/D(|r_j - r_k| + 1)| |G_j - G_k|
    lambdarank  |1/D(r_j) - 1/D(r_k)| |G_j - G_k|
    ndcg2++     mu ndcg2 + lambdarank)";

enum class Weighting { kNdcg1, kNdcg2, kLambdaRank, kNdcg2PlusPlus };

Weighting WeightingOf(std::string_view name) {
  if (name == "ndcg1") return Weighting::kNdcg1;
  if (name == "ndcg2") return Weighting::kNdcg2;
  return name == "lambdarank" ? Weighting::kLambdaRank : Weighting::kNdcg2PlusPlus;
}

// 1 / D(rank) for every rank that a row of `documents` candidates can have, and one more.
class InverseDiscounts {
 public:
  explicit InverseDiscounts(int64_t documents) : values_(static_cast<size_t>(documents) + 2) {
    for (size_t r = 1; r < values_.size(); ++r) {
      values_[r] = 1 / std::log2(1 + static_cast<double>(r));
    }
  }
  double operator[](size_t rank) const { return values_[rank]; }  // from 1

 private:
  std::vector<double> values_;
};

struct Candidate {
  int64_t column = 0;
  double score = 0;
  double grade = 0;
  double gain = 0;  // G
};

double MaxDcg(std::span<const LabelledCell> labelled, const InverseDiscounts& inverse_discounts) {
  std::vector<double> grades;
  for (const LabelledCell& cell : labelled) grades.push_back(cell.grade);
  std::sort(grades.begin(), grades.end(), std::greater<>());
  double sum = 0;
  for (size_t i = 0; i < grades.size(); ++i) {
    sum += (std::exp2(grades[i]) - 1) * inverse_discounts[i + 1];
  }
  return sum;
}

// The candidates of a row in the order of their ranks. It is empty where no grade is above 0,
// because then no document leads a pair.
std::vector<Candidate> Ranking(const Batch& batch, int64_t row,
                               const InverseDiscounts& inverse_discounts) {
  const double max_dcg = MaxDcg(batch.Labelled(row), inverse_discounts);
  if (max_dcg <= 0) return {};
  std::vector<Candidate> ranking;
  ranking.reserve(static_cast<size_t>(batch.documents));
  ForEachCandidate(batch, row, [&](int64_t column, double grade) {
    ranking.push_back({column, batch.query_document[row * batch.documents + column], grade,
                       grade > 0 ? (std::exp2(grade) - 1) / max_dcg : 0});
  });
  std::sort(ranking.begin(), ranking.end(), [](const Candidate& a, const Candidate& b) {
    return a.score > b.score || (a.score == b.score && a.column < b.column);
  });
  return ranking;
}

class LambdaLoss final : public Formula {
 public:
  explicit LambdaLoss(const config::Params& params)
      : scale_(params.Number("scale")),
        mu_(params.Number("mu")),
        weighting_(WeightingOf(params.String("weighting"))) {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    const InverseDiscounts inverse_discounts(batch.documents);
    const auto add = [&](int64_t row) { return AddRow(batch, row, inverse_discounts, gradient); };
    std::vector<double> sums, pairs;
    for (const RowSum& row : MapRows(batch, add)) {
      sums.push_back(row.loss);
      pairs.push_back(row.pairs);
    }
    Evaluation result = MeanOverPairs(batch, std::move(sums), pairs);
    if (gradient != nullptr && result.count > 0) {
      DivideGradient(batch, result.count, gradient->query_document);
    }
    return result;
  }

 private:
  struct RowSum {
    double loss = 0;
    double pairs = 0;
  };

  bool IsPair(const Candidate& leader, const Candidate& other) const {
    return weighting_ == Weighting::kNdcg1 ? leader.column != other.column
                                           : leader.grade > other.grade;
  }

  // The weight of the pair in which document j leads document k. Ranks count from 1.
  double Weight(const std::vector<Candidate>& ranking, size_t j, size_t k,
                const InverseDiscounts& inverse_discounts) const {
    if (weighting_ == Weighting::kNdcg1) return ranking[j].gain * inverse_discounts[j + 1];
    const size_t distance = j > k ? j - k : k - j;
    const double gain = std::fabs(ranking[j].gain - ranking[k].gain);
    double weight = 0;
    if (weighting_ != Weighting::kLambdaRank) {
      weight = inverse_discounts[distance] - inverse_discounts[distance + 1];
      if (weighting_ == Weighting::kNdcg2PlusPlus) weight *= mu_;
    }
    if (weighting_ != Weighting::kNdcg2) {
      weight += std::fabs(inverse_discounts[j + 1] - inverse_discounts[k + 1]);
    }
    return weight * gain;
  }

  // The loss of a row and its weighted gradient, not yet divided by the number of pairs of the
  // batch.
  RowSum AddRow(const Batch& batch, int64_t row, const InverseDiscounts& inverse_discounts,
                Gradient* gradient) const {
    const std::vector<Candidate> ranking = Ranking(batch, row, inverse_discounts);
    double* slopes =
        gradient == nullptr ? nullptr : gradient->query_document + row * batch.documents;
    const double factor = scale_ / std::numbers::ln2 * batch.Weight(row);
    RowSum sum;
    for (size_t j = 0; j < ranking.size(); ++j) {
      if (ranking[j].grade <= 0) continue;
      double leader_slope = 0;
      for (size_t k = 0; k < ranking.size(); ++k) {
        if (!IsPair(ranking[j], ranking[k])) continue;
        const double weight = Weight(ranking, j, k, inverse_discounts);
        const Softplus pair = SoftplusOf(scale_ * (ranking[k].score - ranking[j].score));
        sum.loss += weight * pair.value / std::numbers::ln2;
        ++sum.pairs;
        leader_slope += weight * pair.slope;
        if (slopes != nullptr) slopes[ranking[k].column] += factor * weight * pair.slope;
      }
      if (slopes != nullptr) slopes[ranking[j].column] -= factor * leader_slope;
    }
    return sum;
  }

  static void DivideGradient(const Batch& batch, double pairs, double* slopes) {
    ForEachRow(batch, [&](int64_t row) {
      for (int64_t j = 0; j < batch.documents; ++j) slopes[row * batch.documents + j] /= pairs;
    });
  }

  double scale_;
  double mu_;
  Weighting weighting_;
};

constexpr config::ChoiceInfo kWeightings[] = {
    {"ndcg1", "the leader's discounted gain"},
    {"ndcg2", "gain difference at the distance of the ranks"},
    {"lambdarank", "gain difference at the two ranks"},
    {"ndcg2++", "mu times ndcg2 plus lambdarank"}};

// 20: the scale of the BiXSE runs. 10: Wang et al.'s weight of NDCG-Loss2 in NDCG-Loss2++.
constexpr config::ParamInfo kLambdaLossParams[] = {
    config::Choice("weighting", "what a pair weighs", "ndcg2", kWeightings)
        .Elsewhere("sentence-transformers: `weighting_scheme` of the cross-encoders' `LambdaLoss`"),
    config::Number("scale", "", "multiplies score differences before the sigmoid", 20, {1e-3, 1e4})
        .Elsewhere("sentence-transformers: `sigma` of the cross-encoders' `LambdaLoss`"),
    config::Number("mu", "", "weight of ndcg2 in ndcg2++", 10, {0, 1e6})
        .Needs("weighting = \"ndcg2++\"",
               [](const config::Params& params) { return params.String("weighting") == "ndcg2++"; })
        .Elsewhere("sentence-transformers: `mu` of the cross-encoders' `NDCGLoss2PPScheme`"),
    SimilarityKind()};

}  // namespace

extern const ObjectiveInfo kLambdaLoss{
    {.name = "lambda_loss",
     .summary = "pairwise logistic loss weighted by the change in nDCG",
     .source = "Wang et al. 2018; BiXSE appendix",
     .params = kLambdaLossParams,
     .idle_keys = kIdleWithoutSameTower,
     .studies = "objectives bixse-grades bixse-noise bixse-noise-packages"},
    kLambdaLossPurpose,
    kLambdaLossFormula,
    [](const config::Params&) {
      return Needs{.grades = true, .graded_own = true, .separable_by_row = false};
    },
    MakeFormula<LambdaLoss>};

}  // namespace tandem::objective
