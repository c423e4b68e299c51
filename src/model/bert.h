// BERT's encoder (Devlin et al. 2019), as transformers' BertModel computes it: word + position +
// type embeddings, then layers of self-attention and feed-forward, each followed by
// LayerNorm(x + dropout(f(x))). The pooler is not part of it.
#pragma once

#include <memory>

#include "model/encoder.h"
#include "weights/model_folder.h"

namespace tandem::model {

struct BertDropout {
  double hidden = 0;     // after the embeddings, attention's output and feed-forward
  double attention = 0;  // on attention probabilities
};

// Throws ModelError for an activation other than "gelu", the exact one.
std::unique_ptr<Encoder> MakeBert(const weights::EncoderConfig& config, const BertDropout& dropout,
                                  const TensorSource& tensors);

}  // namespace tandem::model
