// A batch of scores and labels as plain arrays: what a formula computes on. Torch-free.
//
// All matrices are row-major and contiguous. A pointer is null where the batch does not have it; a
// formula's descriptor says what it needs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tandem::objective {

// A document that was judged for a query.
struct LabelledCell {
  int64_t column = 0;
  double grade = 0;    // in [0, 1]
  double teacher = 0;  // any finite number
};

// The labelled cells of a batch: a few in each row, so that grades and teacher scores take no Q x D
// matrix.
struct LabelledCells {
  std::vector<LabelledCell> cells;   // row by row, each row's by ascending column
  std::vector<int64_t> row_starts;   // [Q + 1]: row i has cells [row_starts[i], row_starts[i + 1])
  std::vector<double> own_grades;    // [Q]: of own documents, in [0, 1]
  std::vector<double> own_teachers;  // [Q]

  bool empty() const { return row_starts.empty(); }
};

struct Batch {
  int64_t queries = 0;    // Q
  int64_t documents = 0;  // D

  const double* query_document = nullptr;     // [Q, D]
  const double* query_query = nullptr;        // [Q, Q]
  const double* document_document = nullptr;  // [Q, Q]: own documents against own documents

  const int64_t* positive = nullptr;        // [Q]: column of each query's own document
  const double* own_grades = nullptr;       // [Q]: of own documents, in [0, 1]
  const double* own_teacher = nullptr;      // [Q]
  const bool* negative = nullptr;           // [Q, D]: may document j count as a negative of i?
  const bool* query_negative = nullptr;     // [Q, Q]
  const bool* document_negative = nullptr;  // [Q, Q]

  const LabelledCell* labelled = nullptr;   // as in LabelledCells
  const int64_t* labelled_begin = nullptr;  // [Q + 1]

  std::span<const double> bank_positives;  // scores kept from earlier batches; they carry no
  std::span<const double> bank_negatives;  // gradient

  std::optional<double> scale;  // states of an objective that has them; without, its parameters
  std::optional<double> bias;   // hold

  int threads = 1;

  double PositiveScore(int64_t query) const {
    return query_document[query * documents + positive[query]];
  }
  std::span<const LabelledCell> Labelled(int64_t query) const {
    const int64_t begin = labelled_begin[query];
    return {labelled + begin, static_cast<size_t>(labelled_begin[query + 1] - begin)};
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
