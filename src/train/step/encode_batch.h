// Encodes the texts of a batch, in one forward pass or in chunks. How the embeddings are scored is
// decided elsewhere (train/step/batch_loss.h).
#pragma once

#include <cstdint>
#include <functional>

#include "model/dual_encoder.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/precision.h"
#include "tensor/passes.h"
#include "train/step/batch.h"

namespace tandem::train {

// Packs the weights of both encoders for the given passes.
void Prepare(model::DualEncoder& model, tensor::Precision precision, tensor::Passes passes);

// Returns the embeddings of texts [begin, end). With two encoders, all of these texts must be of
// one kind.
tensor::Tensor EncodeRange(model::DualEncoder& model, const TrainingBatch& batch, int64_t begin,
                           int64_t end, const model::ForwardOptions& options);

// Returns the embeddings of all texts, [Q + D, E]; differentiable if gradients are enabled.
tensor::Tensor EncodeWhole(model::DualEncoder& model, const TrainingBatch& batch,
                           const model::ForwardOptions& options);

// Calls `body` for consecutive ranges of texts that cover the batch. A range has at most `limit`
// tokens, or is a single text. With two encoders, a range has texts of one kind.
void ForEachChunk(const model::DualEncoder& model, const TrainingBatch& batch, int64_t limit,
                  const std::function<void(int64_t begin, int64_t end)>& body);

// Returns the same embeddings without gradient, computed in chunks of `limit` tokens
// (ForEachChunk).
tensor::Tensor EncodeInChunks(model::DualEncoder& model, const TrainingBatch& batch, int64_t limit,
                              const model::ForwardOptions& options);

// Runs the backward pass from `value`, whose gradient is `gradient` (undefined: 1).
void BackPropagate(const tensor::Tensor& value, const tensor::Tensor& gradient = {});

}  // namespace tandem::train
