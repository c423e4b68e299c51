// Tensors of a batch as the plain arrays that formulas compute on.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "objective/batch.h"
#include "objective/catalogue.h"
#include "objective/objective.h"

namespace tandem::objective {

// CPU copies (or the tensors themselves, where they are float64 there already) that `batch` points
// into. Grades and teacher scores are picked out cell by cell: they are never copied as matrices.
struct BatchArrays {
  at::Tensor query_document, query_query, document_document;
  at::Tensor positive, negative, query_negative, document_negative;
  at::Tensor bank_positives, bank_negatives;
  std::vector<LabelledCell> labelled;
  std::vector<int64_t> labelled_begin;
  std::vector<double> own_grades, own_teacher;
  Batch batch;
};

// Throws NumericError for a score, grade or teacher score that is not finite, std::logic_error for
// what `needs` asks for and is not there or has a wrong shape (a caller's mistake, not a user's).
// `scores` and `labels` must outlive the arrays.
BatchArrays MakeBatchArrays(const Scores& scores, const Labels& labels, const States& states,
                            const Needs& needs);

}  // namespace tandem::objective
