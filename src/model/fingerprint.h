// By what two models are told apart when work that was made with one is to be used again.
#pragma once

#include <cstdint>

#include "model/dual_encoder.h"

namespace tandem::model {

// A 64-bit hash of every parameter (name and float32 bytes) and of DualEncoder::settings(): with
// the token ids of the texts it decides the embeddings. The same on every machine.
uint64_t Fingerprint(DualEncoder& model);

}  // namespace tandem::model
