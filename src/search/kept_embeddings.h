// Embeddings of a corpus kept in a folder, so that nothing is encoded twice.
//
// The folder holds embeddings.npy, ids.txt and source.txt; the last says by content, not by name,
// from what they were made: fingerprints of the model and of the texts' ids and tokens, and the
// precision.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <optional>
#include <string>

#include "data/texts.h"
#include "model/dual_encoder.h"

namespace tandem::search {

// Names what decides the embeddings of `texts`: the same string means the same embeddings.
std::string SourceOf(model::DualEncoder& model, model::TextKind kind, const data::Texts& texts,
                     tensor::Precision precision);

// Throws UsageError where the folder holds embeddings that WriteKept did not write (`tandem
// encode` did): nobody's work is overwritten.
void CheckUsableForKept(const std::filesystem::path& folder);

// The kept embeddings, float32 [texts, width]; nothing where the folder has none, or those of
// another source (said in a note). Throws DataError where the files are broken or of another shape.
std::optional<at::Tensor> ReadKept(const std::filesystem::path& folder, const std::string& source,
                                   size_t texts, int64_t width);

// From now on the folder's embeddings, if any, are not taken for kept; to be called before they are
// replaced. The embeddings themselves stay.
void ForgetKept(const std::filesystem::path& folder);

// Writes the three files, the source last: what an interrupted call leaves is not taken for kept.
// Throws OutputError.
void WriteKept(const std::filesystem::path& folder, const std::string& source,
               const data::Texts& texts, const at::Tensor& embeddings);

}  // namespace tandem::search
