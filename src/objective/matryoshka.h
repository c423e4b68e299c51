// Matryoshka training: an objective judges a batch's embeddings at several widths.
//
//   L = sum over widths w of weight(w) * L_objective(scores of the first w numbers)
//
// The cosine normalises what is left at each width. Source: Kusupati et al. 2022
// (arXiv:2205.13147); sentence-transformers' MatryoshkaLoss with all widths in every step. Differs:
// with similarity "dot" nothing is normalised, where MatryoshkaLoss always does.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "objective/catalogue.h"
#include "objective/objective.h"
#include "objective/similarity.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {

struct Width {
  int64_t numbers = 0;  // leading ones of an embedding
  double weight = 1;    // of its loss in the sum
};

// The widths in descending order; `weights` empty: 1 each, else as many as there are widths.
std::vector<Width> WidthsOf(std::span<const int64_t> numbers, std::span<const double> weights);

// Scores of one width.
struct WeighedScores {
  Scores scores;
  double weight = 1;
};

// SimilarityScores of queries [Q, E] and documents [D, E] at each width, in their order; at the
// whole width, with weight 1, where `widths` is empty. No width may be more than E. `whole` means
// what it means in SimilarityScores.
std::vector<WeighedScores> ScoresAtWidths(const tensor::Tensor& queries,
                                          const tensor::Tensor& documents, const Labels& labels,
                                          std::string_view kind, const Needs& needs,
                                          std::span<const Width> widths,
                                          const WholeBatch& whole = {});

// The weighted sum of the losses; with one width of weight 1 the very loss. All widths are judged
// with the same labels, scale and bias. The score banks, which hold scores of the first width, are
// compared with that one alone. Count and losses of queries are the first width's, without weight.
Loss EvaluateWidths(const Objective& objective, std::span<const WeighedScores> widths,
                    const Labels& labels, const States& states);

}  // namespace tandem::objective
