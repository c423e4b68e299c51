// SamToNe: InfoNCE with same-tower negatives.
//
// Source: SamToNe eq. 2 (Moiseev et al. 2023). The printed equation lacks the logarithm, and its
// numerator has sim(q_i, p_j); we take -log and sim(q_i, p_i). A row without candidates contributes
// 0.
#include <array>
#include <utility>
#include <vector>

#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/softmax.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kSamToNePurpose =
    R"(As infonce, for models with two towers and for queries that crowd together: queries must also
lie closer to their documents than to each other. Its paper found the two towers' spaces
nearer to each other after it.)";

constexpr std::string_view kSamToNeFormula =
    R"(L = 1/Q sum_i -log( e^{s_i+/t} / (e^{s_i+/t} + sum_{j in neg(i)} e^{s_ij/t}
                                              + sum_{j in qneg(i)} e^{sim(q_i, q_j)/t}) )

t = temperature, neg(i) = the documents that the mask of query i allows, qneg(i) = the other
queries, but those with the same text. directions = "both" adds the loss of each paired document
against the queries; same_tower = "both" adds the other paired documents, sim(p_i, p_j), to its
denominator.)";

bool Both(const config::Params& params, std::string_view name) {
  return params.String(name) == "both";
}

class SamToNe final : public Formula {
 public:
  explicit SamToNe(const config::Params& params)
      : options_{.temperature = params.Number("temperature")},
        both_directions_(Both(params, "directions")),
        both_towers_(Both(params, "same_tower")) {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    const std::array blocks = {Negatives(batch, gradient), SameTowerQueries(batch, gradient)};
    std::vector<double> losses(static_cast<size_t>(batch.queries));
    double loss = RowSoftmax(batch, blocks, options_, gradient, losses);
    if (both_directions_) {
      const CandidateBlock same_tower =
          both_towers_ ? SameTowerDocuments(batch, gradient) : CandidateBlock();
      loss += ColumnSoftmax(batch, same_tower, options_, gradient, losses);
    }
    return {loss, static_cast<double>(batch.queries), std::move(losses)};
  }

 private:
  SoftmaxOptions options_;
  bool both_directions_;
  bool both_towers_;
};

constexpr config::ChoiceInfo kSameTower[] = {
    {"query", "queries against queries"},
    {"both", "paired documents against each other as well; needs directions = \"both\""}};

// 0.01: the paper's runs.
constexpr config::ParamInfo kSamToNeParams[] = {
    Temperature(0.01), Directions(),
    config::Choice("same_tower", "which towers compete with themselves", "query", kSameTower)
        .Elsewhere(
            "sentence-transformers: `query_to_query` and `doc_to_doc` among the `directions`"),
    SimilarityKind()};

config::ParamProblem Problem(const config::Params& params) {
  if (!Both(params, "same_tower") || Both(params, "directions")) return {};
  return {
      "same_tower",
      "is \"both\", which needs directions = \"both\": paired documents compete with each other "
      "only where they compete for queries"};
}

Needs NeedsOfSamToNe(const config::Params& params) {
  return {.query_query = true,
          .document_document = Both(params, "same_tower"),
          .separable_by_row = !Both(params, "directions")};
}

}  // namespace

extern const ObjectiveInfo kSamToNe{
    {.name = "samtone",
     .summary = "InfoNCE in which queries also compete with queries (same-tower negatives)",
     .source = "SamToNe eq. 2 (Moiseev et al. 2023), under -log",
     .params = kSamToNeParams,
     .problem = Problem,
     .studies = "objectives tuning samtone-duplicates samtone-towers combinations-stages "
                "samtone-projection samtone-steps"},
    kSamToNePurpose,
    kSamToNeFormula,
    NeedsOfSamToNe,
    MakeFormula<SamToNe>};

}  // namespace tandem::objective
