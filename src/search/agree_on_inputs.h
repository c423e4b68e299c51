// Makes sure that the processes of a group are about to encode the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/dual_encoder.h"
#include "search/encode.h"

namespace tandem::search {

// Compares what the processes of options.group encode: `count` texts of `kind` that hash to
// `texts`, model, tokenizer, prompt, length and precision. Where something differs all of them
// throw an Error that names the rank; its exit code is 3 for texts, 4 for the model, 2 for
// settings. Does nothing in a group of one.
void AgreeOnInputs(model::DualEncoder& model, model::TextKind kind, size_t count, uint64_t texts,
                   const EncodeOptions& options);

}  // namespace tandem::search
