// Tells models apart. What was made with one model (kept embeddings, checkpoints of a run) must not
// be used with another.
#pragma once

#include <cstdint>

#include "model/dual_encoder.h"

namespace tandem::model {

// A 64-bit hash of every parameter (name, and bytes: float32, or a frozen one's own type) and of
// DualEncoder::settings(). Two models with the same hash make the same embeddings of the same token
// ids. It is the same on every machine.
uint64_t Fingerprint(DualEncoder& model);

// A hash of the model's low-rank adapters alone: their values, rank, scale and dropout.
uint64_t AdapterFingerprint(DualEncoder& model);

}  // namespace tandem::model
