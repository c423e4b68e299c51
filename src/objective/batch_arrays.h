// Tensors of a batch as the plain arrays that formulas compute on.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>

#include "objective/batch.h"
#include "objective/catalogue.h"
#include "objective/objective.h"

namespace tandem::objective {

// CPU copies (or the tensors themselves, where they are float64 there already) that `batch` points
// into. Labelled cells and weights are not copied: `batch` points into the labels.
struct BatchArrays {
  at::Tensor query_document, query_query, document_document;
  at::Tensor positive, negative, query_negative, document_negative;
  at::Tensor bank_positives, bank_negatives;
  Batch batch;
};

// Throws NumericError for a score, grade or teacher score that is not finite, std::logic_error for
// what `needs` asks for and is not there or has a wrong shape, and for a weight that is negative or
// not finite (a caller's mistake, not a user's).
// `scores` and `labels` must outlive the arrays.
BatchArrays MakeBatchArrays(const Scores& scores, const Labels& labels, const States& states,
                            const Needs& needs);

// The elements of a contiguous float64 tensor on the CPU; none where it is undefined.
std::span<const double> SpanOf(const at::Tensor& tensor);

// The element of a float64 tensor of one element; none where it is undefined.
std::optional<double> ScalarOf(const at::Tensor& tensor);

}  // namespace tandem::objective
