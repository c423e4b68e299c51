// A batch of scores and labels as plain arrays: what a formula computes on. Torch-free.
//
// All matrices are row-major and contiguous. A pointer is null where the batch does not have it; a
// formula's descriptor says what it needs.
#pragma once

#include <cstdint>
#include <span>

namespace tandem::objective {

struct Batch {
  int64_t queries = 0;    // Q
  int64_t documents = 0;  // D

  const double* query_document = nullptr;     // [Q, D]
  const double* query_query = nullptr;        // [Q, Q]
  const double* document_document = nullptr;  // [Q, Q]: own documents against own documents

  const int64_t* positive = nullptr;        // [Q]: column of each query's own document
  const double* grades = nullptr;           // [Q, D] in [0, 1], where `labelled`
  const bool* labelled = nullptr;           // [Q, D]
  const bool* negative = nullptr;           // [Q, D]: may document j count as a negative of i?
  const bool* query_negative = nullptr;     // [Q, Q]
  const bool* document_negative = nullptr;  // [Q, Q]
  const double* teacher = nullptr;          // [Q, D], where `labelled`

  std::span<const double> bank_positives;  // scores kept from earlier batches; they carry no
  std::span<const double> bank_negatives;  // gradient

  double scale = 0;  // states of an objective that learns them
  double bias = 0;

  int threads = 1;

  double PositiveScore(int64_t query) const {
    return query_document[query * documents + positive[query]];
  }
};

// Where a formula adds d loss / d score: an array for each score matrix that the batch has.
struct Gradient {
  double* query_document = nullptr;
  double* query_query = nullptr;
  double* document_document = nullptr;
  double scale = 0;
  double bias = 0;
};

// A loss and what it is a mean over, so that separable losses of micro-batches add exactly.
struct Evaluation {
  double loss = 0;
  double count = 0;
};

}  // namespace tandem::objective
