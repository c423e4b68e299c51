// The input and output of an objective.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "config/params.h"
#include "objective/batch.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {

struct ObjectiveInfo;  // objective/catalogue.h

// The labels of a batch (masks: objectives never re-derive them). Undefined tensors are "none".
struct Labels {
  tensor::Tensor positive;           // int64 [Q]: column of each query's paired document
  tensor::Tensor negative;           // bool [Q, D]: may document j count as a negative of query i?
  tensor::Tensor query_negative;     // bool [Q, S]
  tensor::Tensor document_negative;  // bool [Q, S], positives against positives
  LabelledCells labelled;            // where documents are labelled, with grades and teacher scores
  std::vector<double> weights = {};  // [Q], 0 or more: of each query's loss; empty: all are 1
};

// Similarities of a batch, one floating dtype. The last two are there only for objectives whose
// descriptor asks for them. Where the rows are a part of a batch's queries, S is the number of all
// of them; else Q.
struct Scores {
  tensor::Tensor query_document;     // [Q, D]
  tensor::Tensor query_query;        // [Q, S]
  tensor::Tensor document_document;  // [Q, S]: among paired documents
};

// The values that an objective learns or keeps between batches; `train` owns and saves them.
// Undefined: none.
struct States {
  tensor::Tensor scale;  // one floating number; differentiable; none: the parameter `scale`
  tensor::Tensor bias;   // the same; none: the parameter `bias`, or the batch's StartingBias
  tensor::Tensor bank_positives;  // floating [K], detached scores of earlier batches
  tensor::Tensor bank_negatives;  // floating [L]
};

// A float64 scalar (differentiable once, 0-dimensional, in the processor's memory wherever the
// scores are) with what it is a mean over, so that micro-batches add exactly where the objective is
// separable by row. `losses` [Q] has the loss of
// each query, whatever it weighs, as objective::Evaluation defines it; it carries no gradient.
struct Loss {
  tensor::Tensor value;
  double count = 0;
  std::vector<double> losses = {};
};

class Objective {
 public:
  virtual ~Objective() = default;
  // Arithmetic is in double whatever the scores' dtype; gradients come back in that dtype. Throws
  // NumericError when a score, grade or teacher score is not finite. A batch in which nothing can
  // be compared has loss 0 and zero gradient.
  virtual Loss Evaluate(const Scores& scores, const Labels& labels, const States& states) const = 0;
  Loss Evaluate(const Scores& scores, const Labels& labels) const {
    return Evaluate(scores, labels, States());
  }
  // The start of a learned bias that neither the recipe nor the model gives, from the scores and
  // labels of the first batch (StatePlan), whatever its queries weigh. 0 for an objective without a
  // bias.
  virtual double StartingBias(const Scores& scores, const Labels& labels,
                              const States& states) const = 0;
};

// Says where an objective computes.
enum class Forms {
  // Computes on the host, unless the scores are on a device and query_document has kDeviceCells
  // cells or more: then on that device, if the objective has a device form (device_form.h).
  // Other scores are copied to the host, and their gradient back. TANDEM_FORMS=portable is kDevice.
  kBySize,
  kHost,
  kDevice,  // wherever the scores are, if the objective has a device form
};

// Two copies over PCIe and the formula on the host take about as long for so many cells as the
// twenty or so launches of a device form. Estimated: no GPU has measured it.
inline constexpr int64_t kDeviceCells = 65536;

// `params` are the parameters of `info`.
std::unique_ptr<const Objective> MakeObjective(const ObjectiveInfo& info,
                                               const config::Params& params,
                                               Forms forms = Forms::kBySize);
// `name` as in the catalogue. Throws UsageError for an unknown name.
std::unique_ptr<const Objective> MakeObjective(std::string_view name, const config::Params& params,
                                               Forms forms = Forms::kBySize);

}  // namespace tandem::objective
