// Scores of a batch from its embeddings.
#pragma once

#include <string_view>

#include "objective/catalogue.h"
#include "objective/objective.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {

// A batch of which some queries are scored.
struct WholeBatch {
  tensor::Tensor queries;   // [S, E]; undefined: there is no larger batch
  tensor::Tensor positive;  // int64 [S]: the columns of their paired documents
};

// The scores that `needs` asks for, differentiable, in float64 whatever the embeddings' dtype: a
// temperature of 0.01 turns a rounding of 6e-8 in a float32 score into 6e-6 of a logit, and the
// products cost next to nothing beside the encoder's.
//
//   queries    [Q, E], documents [D, E]: raw embeddings, on one device, where the scores are made;
//              positive int64 [Q], there or on the host
//   kind       "cosine" or "dot"
//   whole      the batch that the queries are a part of; empty: they are all
//
// The cosine with a zero vector is 0 and gives it no gradient.
Scores SimilarityScores(const tensor::Tensor& queries, const tensor::Tensor& documents,
                        const tensor::Tensor& positive, std::string_view kind, const Needs& needs,
                        const WholeBatch& whole = {});

// Computes only query_document.
Scores SimilarityScores(const tensor::Tensor& queries, const tensor::Tensor& documents,
                        std::string_view kind);

}  // namespace tandem::objective
