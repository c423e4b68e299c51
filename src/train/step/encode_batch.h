// A batch's texts to embeddings, in one forward pass or in chunks. How the embeddings are judged is
// not seen here (train/step/judge.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "model/dual_encoder.h"
#include "tensor/passes.h"
#include "train/step/batch.h"
#include "train/step/step.h"

namespace tandem::train {

// Packs the weights of both towers.
void Prepare(model::DualEncoder& model, const StepOptions& options, tensor::Passes passes);

// Embeddings of texts [begin, end). With two encoders these must be of one kind.
at::Tensor EncodeRange(model::DualEncoder& model, const TrainingBatch& batch, int64_t begin,
                       int64_t end, const model::ForwardOptions& options);

// Of all texts, [Q + D, E]; differentiable where gradients are enabled.
at::Tensor EncodeWhole(model::DualEncoder& model, const TrainingBatch& batch,
                       const model::ForwardOptions& options);

// Calls `body` for consecutive ranges of texts that cover the batch. A range has at most `limit`
// tokens, or is a single text. With two encoders a range has texts of one kind.
void ForEachChunk(const model::DualEncoder& model, const TrainingBatch& batch, int64_t limit,
                  const std::function<void(int64_t begin, int64_t end)>& body);

// As EncodeWhole without gradient, chunk by chunk.
at::Tensor EncodeInChunks(model::DualEncoder& model, const TrainingBatch& batch,
                          const StepOptions& options);

// Goes back through the graph of `value`, whose gradient is `gradient` (undefined: 1).
void BackPropagate(const at::Tensor& value, const at::Tensor& gradient = {});

}  // namespace tandem::train
