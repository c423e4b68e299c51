// Embeddings of a corpus that a search keeps in a folder, so that nothing is encoded twice.
//
//   embeddings.npy   float32 [N, E]
//   ids.txt          a line for each row
//   source.txt       the provenance: fingerprints of the model and of the texts' ids and tokens,
//   and
//                    the precision. Written last, so that a folder without it holds no kept rows
//
// The three are written in one piece, and source.txt says by content, not by name, what the rows
// are of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "embeddings/mapped_rows.h"
#include "embeddings/provenance.h"

namespace tandem::embeddings {

// Throws UsageError where the folder holds embeddings that WriteKept did not write (`tandem
// encode` did): a search must not overwrite them.
void CheckUsableForKept(const std::filesystem::path& folder);

// Returns everything that decides the bytes of kept embeddings. Threads and versions, which change
// them by rounding alone, are left out.
Provenance KeptProvenance(uint64_t model, uint64_t texts, std::string_view precision);

// The kept embeddings; nothing where the folder has none, or those of another provenance (said in a
// note). Throws DataError where the files are broken or of another shape than [texts, width].
std::optional<MappedRows> ReadKept(const std::filesystem::path& folder,
                                   const Provenance& provenance, size_t texts, size_t width);

// Removes source.txt, so that no search takes the folder's embeddings for kept ones. Call it before
// the embeddings are replaced; they stay as they are.
void ForgetKept(const std::filesystem::path& folder);

// Makes the folder and throws OutputError where embeddings could not be written into it: to be
// called before a corpus is encoded for it.
void CheckWritableForKept(const std::filesystem::path& folder);

// Rows of float32 [N, width] and their ids.
struct KeptRows {
  std::span<const float> values;
  size_t width = 0;  // E
  std::function<std::string_view(size_t row)> id;
};

// Writes the three files. Throws OutputError.
void WriteKept(const std::filesystem::path& folder, const Provenance& provenance,
               const KeptRows& rows);

}  // namespace tandem::embeddings
