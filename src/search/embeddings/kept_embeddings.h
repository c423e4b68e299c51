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

#include "data/texts/texts.h"
#include "model/dual_encoder.h"

namespace tandem::search {

// A text that names everything that decides the embeddings: where it is the same, they are too.
std::string SourceOf(model::DualEncoder& model, model::TextKind kind, const data::Texts& texts,
                     tensor::Precision precision);

// Throws UsageError where the folder holds embeddings that WriteKept did not write (`tandem
// encode` did): a search must not overwrite them.
void CheckUsableForKept(const std::filesystem::path& folder);

// The kept embeddings, float32 [texts, width]; nothing where the folder has none, or those of
// another source (said in a note). Throws DataError where the files are broken or of another shape.
std::optional<at::Tensor> ReadKept(const std::filesystem::path& folder, const std::string& source,
                                   size_t texts, int64_t width);

// Removes source.txt, so that no search takes the folder's embeddings for kept ones. Call it before
// the embeddings are replaced; they stay as they are.
void ForgetKept(const std::filesystem::path& folder);

// Makes the folder and throws OutputError where embeddings could not be written into it: to be
// called before a corpus is encoded for it.
void CheckWritableForKept(const std::filesystem::path& folder);

// Writes the three files, source.txt last, so that no search takes what an interrupted call leaves
// for kept embeddings. Throws OutputError.
void WriteKept(const std::filesystem::path& folder, const std::string& source,
               const data::Texts& texts, const at::Tensor& embeddings);

}  // namespace tandem::search
