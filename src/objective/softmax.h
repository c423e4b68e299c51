// Softmax cross-entropy of each row's paired document against candidates, the core of `infonce`,
// `samtone` and `pair`.
#pragma once

#include <span>
#include <vector>

#include "objective/batch.h"

namespace tandem::objective {

// Candidates of every query: the cells of row i that `mask` allows.
struct CandidateBlock {
  const double* scores = nullptr;  // [Q, columns]
  const bool* mask = nullptr;      // [Q, columns]
  double* gradient = nullptr;      // [Q, columns]; null without Gradient
  int64_t columns = 0;
};

struct SoftmaxOptions {
  double temperature = 1;
  double share = 1;              // of this term in the loss
  bool include_positive = true;  // whether the paired document is part of the denominator
};

// share/Q * sum over i of w_i l_i, where w_i is the query's weight and
//
//   l_i = -log( e^{s_i+/t} / (e^{s_i+/t} + sum over allowed candidates of e^{s/t}) )
//
// Adds share l_i to losses[i] of `losses` [Q]. A row without allowed candidates contributes 0.
double RowSoftmax(const Batch& batch, std::span<const CandidateBlock> candidates,
                  const SoftmaxOptions& options, Gradient* gradient, std::vector<double>& losses);

// The document-to-query direction: the candidates of paired document i are the queries j whose mask
// negative[j][positive(i)] allows it, and the cells of row i of `same_tower` where that has
// columns. l_i is then the loss of paired document i and weighs as query i does.
double ColumnSoftmax(const Batch& batch, const CandidateBlock& same_tower,
                     const SoftmaxOptions& options, Gradient* gradient,
                     std::vector<double>& losses);

// Adds a term's part of each query's loss to `losses` and returns its part of the batch's. `values`
// [Q] are the term's losses before its share.
double AddTerm(const Batch& batch, std::span<const double> values, const SoftmaxOptions& options,
               std::vector<double>& losses);

// The cells that batch.negative allows.
CandidateBlock Negatives(const Batch& batch, Gradient* gradient);
// Other queries, and other queries' paired documents, that the same-tower masks allow.
CandidateBlock SameTowerQueries(const Batch& batch, Gradient* gradient);
CandidateBlock SameTowerDocuments(const Batch& batch, Gradient* gradient);

}  // namespace tandem::objective
