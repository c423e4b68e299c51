// An objective as tensor operations: what computes where scores are on a device and too many to be
// copied to the host. It is the file forms/NAME.cc for src/objective/losses/NAME.cc.
//
// Arithmetic is in double: a logit is a score divided by a temperature of 0.01, so that float32
// would leave 5 of its digits. GPUs for computing (A100, H100) have half of their float32 rate in
// double, others a 64th of it, which the encoder's products outweigh on either. No sum adds
// atomically: a run can be repeated bit for bit wherever libtorch's own sums can.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "objective/batch.h"

namespace tandem::libtorch {

// The labelled cells of a batch, L together and at most M in a row. M is at least 1.
struct LabelledTensors {
  at::Tensor cells;         // int64 [L]: row * D + column, ascending
  at::Tensor columns;       // int64 [Q, M]: each row's in order; 0 where `valid` is false
  at::Tensor valid;         // bool [Q, M]
  at::Tensor grades;        // float64 [Q, M]; 0 where `valid` is false
  at::Tensor teachers;      // the same
  at::Tensor own_grades;    // float64 [Q]
  at::Tensor own_teachers;  // float64 [Q]
  at::Tensor negative;      // bool [Q, D]: allowed negatives that are not labelled
};

// Temporaries of a form have about so many cells at a time (32 MiB in double), whatever the batch.
// On a GPU one operation on as many takes some 30 microseconds, several times what its launch does.
inline constexpr int64_t kCellsAtATime = int64_t{1} << 22;

// A batch as a form computes on it. Tensors are on one device and without gradient; an undefined
// one is not there.
struct DeviceBatch {
  // Sizes, weights, states, banks and labelled cells, on the host. Its matrices and masks are null.
  objective::Batch host;

  at::Tensor query_document;                     // float64 [Q, D], contiguous
  at::Tensor query_query, document_document;     // float64 [Q, S]
  at::Tensor positive;                           // int64 [Q]
  at::Tensor own_cells;                          // int64 [Q]: row * D + positive
  at::Tensor own_scores;                         // float64 [Q]
  at::Tensor negative;                           // bool [Q, D], contiguous
  at::Tensor query_negative, document_negative;  // bool [Q, S]
  at::Tensor weights;                            // float64 [Q]; 1 where there are none
  LabelledTensors labelled;                      // for Needs::grades and Needs::teacher
  at::Tensor bank_positives, bank_negatives;     // float64, on the host; `host` has spans

  int64_t cells_at_a_time = kCellsAtATime;
};

// Zeroed matrices that a form adds to, as in Gradient; undefined where the batch lacks the scores.
struct BatchGradient {
  at::Tensor query_document, query_query, document_document;  // float64, contiguous
  double scale = 0;
  double bias = 0;
};

// Computes on a device what objective::Formula computes on the host, which says what the functions
// mean.
class BatchForm {
 public:
  virtual ~BatchForm() = default;
  virtual objective::Evaluation Evaluate(const DeviceBatch& batch,
                                         BatchGradient* gradient) const = 0;
  virtual double StartingBias(const DeviceBatch& /*batch*/) const { return 0; }
};

}  // namespace tandem::libtorch
