// The encoder of every architecture: computes what a weights::EncoderSpec says with the operations
// of tensor/ops.h.
#pragma once

#include <memory>
#include <optional>

#include "model/encoders/encoder.h"
#include "model/training/adapter_plan.h"
#include "weights/encoder_spec.h"

namespace tandem::model {

// `dropout` replaces the spec's rates, wherever the architecture drops something; none: the spec's.
// `tensors` is asked for every tensor of the spec once, by its canonical name. Tensors that want no
// gradient are frozen: their values must not change.
std::unique_ptr<Encoder> MakeTransformer(const weights::EncoderSpec& spec,
                                         const std::optional<double>& dropout,
                                         const TensorSource& tensors,
                                         const AdapterPlan& adapters = {});

}  // namespace tandem::model
