#include "train/step/cached_step.h"

#include <utility>

#include "tensor/core/tensor.h"
#include "train/step/encode_batch.h"

namespace tandem::train {

StepOutcome CachedStep::Pass(model::DualEncoder& model, const TrainingBatch& batch,
                             const Between& between, const StepOptions& options) const {
  Prepare(model, options.forward.precision, tensor::Passes::kBoth);
  const tensor::Tensor embeddings =
      EncodeInChunks(model, batch, chunk_tokens_, options.forward).set_requires_grad(true);
  TrainingLoss loss = between.loss(embeddings);
  if (loss.value.defined()) {
    BackPropagate(loss.value, loss.gradient);
    const tensor::Tensor gradient = embeddings.grad();
    ForEachChunk(model, batch, chunk_tokens_, [&](int64_t begin, int64_t end) {
      const tensor::Tensor chunk = EncodeRange(model, batch, begin, end, options.forward);
      if (end == batch.texts()) between.before_last_pass();
      BackPropagate(chunk, gradient.narrow(0, begin, end - begin));
    });
  }
  return std::move(loss.outcome);
}

tensor::Tensor CachedStep::Encode(model::DualEncoder& model, const TrainingBatch& batch,
                                  const model::ForwardOptions& options) const {
  Prepare(model, options.precision, tensor::Passes::kForward);
  return EncodeInChunks(model, batch, chunk_tokens_, options);
}

}  // namespace tandem::train
