// Tensors of a batch as the plain arrays that formulas compute on.
#pragma once

#include <optional>
#include <span>

#include "objective/batch.h"
#include "objective/catalogue.h"
#include "objective/objective.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {

// CPU copies (or the tensors themselves, where they are float64 there already) that `batch` points
// into. Labelled cells and weights are not copied: `batch` points into the labels.
struct BatchArrays {
  tensor::Tensor query_document, query_query, document_document;
  tensor::Tensor positive, negative, query_negative, document_negative;
  tensor::Tensor bank_positives, bank_negatives;
  Batch batch;
};

// Throws NumericError for a score, grade or teacher score that is not finite, std::logic_error for
// what `needs` asks for and is not there or has a wrong shape, and for a weight that is negative or
// not finite (a caller's mistake, not a user's).
// `scores` and `labels` must outlive the arrays.
BatchArrays MakeBatchArrays(const Scores& scores, const Labels& labels, const States& states,
                            const Needs& needs);

// The elements of a float64 tensor on the CPU; none where it is undefined.
std::span<const double> SpanOf(const tensor::Tensor& tensor);

// The element of a tensor of one floating number; none where it is undefined.
std::optional<double> ScalarOf(const tensor::Tensor& tensor);

}  // namespace tandem::objective
