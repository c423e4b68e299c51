// Says how long many texts would take to encode, in the precision that was asked for and in others,
// from the number of their tokens and a short measurement on some of them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "search/encode.h"
#include "tensor/machine/precision.h"

namespace tandem::search {

struct PrecisionTime {
  tensor::Precision precision;
  double seconds = 0;  // for all texts that are to be encoded
};

// Returns the time of ahead.options.precision first, then those of bf16, where the processor
// computes it fast, and of int8; none where the texts take less than `least_seconds` in the former.
// The tokens of all texts are estimated from those of 256, spread evenly. A guess from them and the
// number of weights says whether it is worth measuring at all. Each precision then encodes at most
// a 200th of the tokens, of texts that are spread evenly too, and at least one text; weights are
// packed for it. Afterwards the model is prepared for ahead.options.precision. The model is on the
// CPU.
std::optional<std::vector<PrecisionTime>> EstimateTimes(const EncodingAhead& ahead,
                                                        double least_seconds);

}  // namespace tandem::search
