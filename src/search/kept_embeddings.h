// Embeddings of a corpus kept in a folder, so that nothing is encoded twice.
//
// The folder holds embeddings.npy, ids.txt and source.txt; the last says by content, not by name,
// from what they were made: hashes of the model's parameters and of the texts, and the settings.
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

// The kept embeddings, float32 [N, E]; nothing where the folder has none, or those of another
// source (said in a note). Throws DataError where the files are broken.
std::optional<at::Tensor> ReadKept(const std::filesystem::path& folder, const std::string& source);

// Writes the three files, the source last: what an interrupted call leaves is not taken for kept.
// Throws OutputError.
void WriteKept(const std::filesystem::path& folder, const std::string& source,
               const data::Texts& texts, const at::Tensor& embeddings);

// `ids.txt`: one id a line, in the order of the rows.
void WriteIds(const std::filesystem::path& path, const data::Texts& texts);

}  // namespace tandem::search
