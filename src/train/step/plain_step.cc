#include "train/step/plain_step.h"

#include <utility>

#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "train/step/encode_batch.h"

namespace tandem::train {

StepOutcome PlainStep::Pass(model::DualEncoder& model, const TrainingBatch& batch,
                            const Between& between, const StepOptions& options) const {
  const tensor::Precision precision = options.forward.precision;
  // If no other batch needs the packed copies of weights for the forward pass, those for the
  // backward pass replace them.
  Prepare(model, precision,
          options.weights_stay ? tensor::Passes::kBoth : tensor::Passes::kForward);
  TrainingLoss loss = between.loss(EncodeWhole(model, batch, options.forward));
  if (!options.weights_stay) Prepare(model, precision, tensor::Passes::kBackward);
  if (loss.value.defined()) {
    between.before_last_pass();
    BackPropagate(loss.value, loss.gradient);
  }
  return std::move(loss.outcome);
}

tensor::Tensor PlainStep::Encode(model::DualEncoder& model, const TrainingBatch& batch,
                                 const model::ForwardOptions& options) const {
  const tensor::NoGradGuard no_gradient;
  Prepare(model, options.precision, tensor::Passes::kForward);
  return EncodeWhole(model, batch, options);
}

}  // namespace tandem::train
