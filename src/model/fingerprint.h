// Tells models apart, so that what was made with one (kept embeddings, checkpoints of a run) is not
// used again with another.
#pragma once

#include <cstdint>

#include "model/dual_encoder.h"

namespace tandem::model {

// A 64-bit hash of every parameter (name and float32 bytes) and of DualEncoder::settings(). Two
// models with the same hash make the same embeddings of the same token ids. The same on every
// machine.
uint64_t Fingerprint(DualEncoder& model);

}  // namespace tandem::model
