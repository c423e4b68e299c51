// The provenance of what a model makes of texts.
#pragma once

#include "data/texts/texts.h"
#include "embeddings/provenance.h"
#include "model/dual_encoder.h"
#include "search/encode.h"

namespace tandem::search {

// Returns everything that decides the bytes besides the texts: fingerprints of model and tokenizer,
// prompt, length, batches, precision, instruction sets, threads, libraries. Where they are the
// same, the same texts in the same windows get the same bytes.
embeddings::Provenance EncodingSource(model::DualEncoder& model, model::TextKind kind,
                                      const EncodeOptions& options);

// The provenance of kept embeddings (embeddings/layouts/kept.h) names the texts too: by their ids,
// by their token ids and, where the prompt is left out of pooling, by its length. Token ids are
// what the model sees of a text, so that another tokenizer gives another provenance.
embeddings::Provenance KeptSource(model::DualEncoder& model, model::TextKind kind,
                                  const data::Texts& texts, tensor::Precision precision);

}  // namespace tandem::search
