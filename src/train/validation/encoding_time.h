// How long it takes to encode many texts, from a sample of them.
#pragma once

#include <cstddef>

#include "model/dual_encoder.h"
#include "search/encode.h"

namespace tandem::train {

// How long a sample is encoded for an estimate: long against a forward pass, short for who waits.
inline constexpr double kEstimateSeconds = 3;

// The seconds that all `count` texts take, with their tokens: some of them, spread over all, are
// encoded until kEstimateSeconds are over or 256 are done, at least enough for a pass of each
// thread. 0 for no texts. Of `options` the prompt, the precision and the threads count.
double EstimateEncoding(model::DualEncoder& model, model::TextKind kind, size_t count,
                        const search::TextSource& text, const search::EncodeOptions& options);

}  // namespace tandem::train
