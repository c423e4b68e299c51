// PAIR: InfoNCE mixed with a document-centred term, paired documents against each other.
//
// Source: SamToNe eq. 3, after PAIR (Ren et al. 2021). SamToNe prints the second term without the
// positive in its denominator; PAIR has it: `include_positive` = false gives the printed form. A
// row without candidates contributes 0 to the term that has none.
#include <utility>
#include <vector>

#include "objective/catalogue.h"
#include "objective/common_params.h"
#include "objective/softmax.h"

namespace tandem::objective {
namespace {

constexpr std::string_view kPairPurpose =
    R"(As infonce, with the documents of a batch pushed apart from each other as well.)";

constexpr std::string_view kPairFormula =
    R"(L = (1 - a) InfoNCE + a/Q sum_i -log( e^{s_i+/t} / (e^{s_i+/t} + sum_{j in dneg(i)} e^{sim(p_i, p_j)/t}) )

a = alpha, t = temperature, InfoNCE as in infonce (with directions), dneg(i) = the other queries'
paired documents, but copies of document i. include_positive = false leaves e^{s_i+/t} out of the
denominator.)";

class Pair final : public Formula {
 public:
  explicit Pair(const config::Params& params)
      : query_{.temperature = params.Number("temperature"), .share = 1 - params.Number("alpha")},
        document_{.temperature = params.Number("temperature"),
                  .share = params.Number("alpha"),
                  .include_positive = params.Boolean("include_positive")},
        both_(params.String("directions") == "both") {}

  Evaluation Evaluate(const Batch& batch, Gradient* gradient) const override {
    const CandidateBlock negatives = Negatives(batch, gradient);
    const CandidateBlock documents = SameTowerDocuments(batch, gradient);
    std::vector<double> losses(static_cast<size_t>(batch.queries));
    double loss = RowSoftmax(batch, {&negatives, 1}, query_, gradient, losses);
    if (both_) loss += ColumnSoftmax(batch, {}, query_, gradient, losses);
    loss += RowSoftmax(batch, {&documents, 1}, document_, gradient, losses);
    return {loss, static_cast<double>(batch.queries), std::move(losses)};
  }

 private:
  SoftmaxOptions query_;
  SoftmaxOptions document_;
  bool both_;
};

// 0.1: SamToNe's runs of PAIR.
constexpr config::ParamInfo kPairParams[] = {
    Temperature(0.01),
    config::Number("alpha", "", "share of the document-document term", 0.1, {0, 1}),
    config::Boolean("include_positive",
                    "whether the own pair is in the denominator of the document-document term",
                    true)
        .Needs("alpha above 0",
               [](const config::Params& params) { return params.Number("alpha") > 0; }),
    Directions().Needs("alpha below 1",
                       [](const config::Params& params) { return params.Number("alpha") < 1; }),
    SimilarityKind()};

Needs NeedsOfPair(const config::Params& params) {
  return {.document_document = true, .separable_by_row = params.String("directions") != "both"};
}

}  // namespace

extern const ObjectiveInfo kPair{
    {.name = "pair",
     .summary = "InfoNCE mixed with paired documents against each other",
     .source = "SamToNe eq. 3, with the positive in the denominator; PAIR (Ren et al. 2021)",
     .params = kPairParams,
     .studies = "objectives samtone-towers samtone-projection"},
    kPairPurpose,
    kPairFormula,
    NeedsOfPair,
    MakeFormula<Pair>};

}  // namespace tandem::objective
