// Layers that training starts anew instead of from the folder's weights.
#pragma once

#include <cstdint>

#include "model/encoders/encoder.h"
#include "weights/folders/model_folder.h"

namespace tandem::model {

// Gives the tensors of `source`, but those of the last `layers` layers with new values, as BERT
// starts them: weights are drawn from a normal distribution of mean 0 whose deviation is
// config.json's initializer_range (0.02 where it says none, BERT's own), weights of normalisations
// multiply by 1, biases are 0. The draws depend on `seed` and the tensor's name alone. 0 layers: as
// `source`. Throws TrainingProblem for more layers than there are, and (when the tensor is asked
// for) where a tensor of these layers is frozen. Points into `folder`.
TensorSource WithNewLayers(TensorSource source, const weights::ModelFolder& folder, int64_t layers,
                           uint64_t seed);

}  // namespace tandem::model
