// What the tensor commands do first: set threads, load the model, resolve the precision.
#pragma once

#include <memory>

#include "app/model_flags.h"
#include "model/dual_encoder.h"
#include "search/encode.h"

namespace tandem::app {

// Sets the process up for tensors (tensor/process.h), then loads the folder. Throws ModelError,
// UsageError.
std::unique_ptr<model::DualEncoder> LoadModel(const ModelFlags& flags);

// The global flags as the encoder takes them: `--precision` (fp32 where not given), `--threads`.
search::EncodeOptions BulkOptions();

}  // namespace tandem::app
