// Folders of embeddings in parts, as searches with a model take them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "data/texts/texts.h"
#include "embeddings/layouts/parts.h"
#include "model/dual_encoder.h"
#include "search/encode.h"
#include "search/retrieval/similarity_rows.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

// Opens the folder and checks that its embeddings are what the model makes of texts of this kind
// with these options. Throws what embeddings::EmbeddingParts and its CheckMadeWith throw.
embeddings::EmbeddingParts OpenPartsFor(const std::filesystem::path& folder,
                                        model::DualEncoder& model, model::TextKind kind,
                                        const EncodeOptions& options);

// `texts` must outlive what is returned.
embeddings::ExpectedTexts ExpectedOf(const data::Texts& texts);

// Reads rows in ascending order, with one part mapped at a time: each is checked against its
// checksums and its texts before any of its rows is given away.
class PartReader {
 public:
  // `parts` must outlive the reader; it has a row for each of `texts`, in their order (CheckCount).
  PartReader(const embeddings::EmbeddingParts& parts, embeddings::ExpectedTexts texts, int threads)
      : parts_(parts), texts_(std::move(texts)), threads_(threads) {}

  // Rows first to first + count - 1, float32 [count, E], valid until the next call; `first` is not
  // below the last call's. A view of the file where one part has them all. Throws what Open and
  // CheckTexts throw.
  tensor::Tensor Rows(size_t first, size_t count);

 private:
  // Makes the part that has the row the open one.
  void GoTo(size_t row);
  // Its rows from `first` on, at most `count` of them.
  tensor::Tensor RowsHere(size_t first, size_t count) const;

  const embeddings::EmbeddingParts& parts_;
  embeddings::ExpectedTexts texts_;
  int threads_;
  size_t next_ = 0;  // part
  std::optional<embeddings::EmbeddingPart> part_;
};

// The rows of all parts, which are mapped and compared with `texts`. Says where they are from.
// Throws what OpenPartsFor, CheckCount and CheckTexts throw; `what` as for CheckCount.
std::vector<RowBlock> RowBlocksOf(const embeddings::EmbeddingParts& parts, const data::Texts& texts,
                                  std::string_view what, int threads);

// Says where embeddings come from: "1000 embeddings are from DIR, in 16 parts".
void NoteParts(const embeddings::EmbeddingParts& parts);

}  // namespace tandem::search
