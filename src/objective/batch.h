// A batch of scores and labels as plain arrays: what a formula computes on.
//
// All matrices are row-major and contiguous. A pointer is null where the batch does not have it; a
// formula's descriptor says what it needs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tandem::objective {

// A document of the batch that was judged for the query of a row.
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
  std::vector<double> own_grades;    // [Q]: of paired documents, in [0, 1]
  std::vector<double> own_teachers;  // [Q]

  bool empty() const { return row_starts.empty(); }
};

struct Batch {
  int64_t queries = 0;    // Q
  int64_t documents = 0;  // D
  // Queries that those of this batch compete with in the same tower: S, which is Q, or more where
  // the rows are a part of a batch that several processes judge.
  int64_t same_tower = 0;

  const double* query_document = nullptr;     // [Q, D]
  const double* query_query = nullptr;        // [Q, S]
  const double* document_document = nullptr;  // [Q, S]: among paired documents

  const int64_t* positive = nullptr;        // [Q]: column of each query's paired document
  const double* own_grades = nullptr;       // [Q]: of paired documents, in [0, 1]
  const double* own_teacher = nullptr;      // [Q]
  const bool* negative = nullptr;           // [Q, D]: may document j count as a negative of i?
  const bool* query_negative = nullptr;     // [Q, S]
  const bool* document_negative = nullptr;  // [Q, S]

  const double* weights = nullptr;  // [Q], 0 or more: of each query's loss; null: all are 1

  const LabelledCell* labelled = nullptr;   // as in LabelledCells
  const int64_t* labelled_begin = nullptr;  // [Q + 1]

  std::span<const double> bank_positives;  // scores of earlier batches, which get no gradient
  std::span<const double> bank_negatives;  // scores of negatives, likewise

  std::optional<double> scale;  // learned so far; without a value the parameter `scale` is used
  std::optional<double> bias;   // learned so far; without a value the parameter `bias` is used

  int threads = 1;

  double PositiveScore(int64_t query) const {
    return query_document[query * documents + positive[query]];
  }
  double Weight(int64_t query) const { return weights == nullptr ? 1 : weights[query]; }
  std::span<const LabelledCell> Labelled(int64_t query) const {
    const int64_t begin = labelled_begin[query];
    return {labelled + begin, static_cast<size_t>(labelled_begin[query + 1] - begin)};
  }
};

// A formula adds d loss / d score here: an array for each score matrix that the batch has.
struct Gradient {
  double* query_document = nullptr;
  double* query_query = nullptr;
  double* document_document = nullptr;
  double scale = 0;
  double bias = 0;
};

// A loss, and how many terms it is a mean over: losses of micro-batches that are separable by row
// add up exactly when each is weighted by its count.
//
//   loss = 1/count sum_i Weight(i) n_i losses[i],  count = sum_i n_i
//
// n_i is the number of query i's terms: 1 where the loss is a mean over queries; else its pairs, so
// that losses[i] is the mean over them (0 where it has none). Weights do not enter the count: where
// a sampler thins out queries and lets those that stay weigh more, the expected gradient stays.
// Banked positives have terms too, which weigh 1 and belong to no query.
struct Evaluation {
  double loss = 0;
  double count = 0;
  std::vector<double> losses = {};  // [Q]: of each query, whatever it weighs
};

}  // namespace tandem::objective
