// What decides the bytes of embeddings besides the texts, for files that keep them.
#pragma once

#include <string>

#include "model/dual_encoder.h"
#include "search/encode.h"

namespace tandem::search {

// Lines, each with its end: fingerprints of model and tokenizer, prompt, length, batches,
// precision, instruction sets, threads, libraries. Where they are the same, the same texts in the
// same windows get the same bytes.
std::string EncodingSource(model::DualEncoder& model, model::TextKind kind,
                           const EncodeOptions& options);

}  // namespace tandem::search
