// Encodes the distinct texts of a call block by block, so that the bytes are the same whatever is
// encoded at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "search/encode.h"
#include "search/encoding/distinct_texts.h"
#include "search/encoding/embedding_cache.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

// Texts that are sorted by length and encoded together, and what an interruption can lose. More
// would make batches of more equal length, which this many already are but for 1 % of their time.
inline constexpr size_t kBlockRows = 4096;

// What it is made with must outlive it.
class BlockEncoder {
 public:
  BlockEncoder(model::DualEncoder& model, model::TextKind kind, const TextSource& text,
               const DistinctTexts& distinct, const CacheOptions& options);

  // Tells whoever asked to know (EncodeOptions::before) that so many of the distinct texts are
  // going to be encoded; nothing happens for 0.
  void Announce(size_t count);

  // Encodes texts first to first + count - 1, where `first` is a block's first text, and gives the
  // rows of one block after the other to `sink`. Rank 0 of a group tells the others what it
  // encodes, so that they take their shares (Follow).
  void Encode(size_t first, size_t count, const EmbeddingSink& sink);
  // The same where all processes of a group call it for the same texts.
  void EncodeTogether(size_t first, size_t count, const EmbeddingSink& sink);
  bool shared() const { return dist::IsShared(encode_.group); }
  bool leads() const { return encode_.group->leads(); }

  // Rank 0 calls it when it has all rows: gives the others those that they have not seen.
  void Complete(const tensor::Tensor& rows);
  // All other ranks call it: they take part in what rank 0 encodes, until that has all rows, which
  // it returns, float32 [count, width].
  tensor::Tensor Follow(size_t count, int64_t width);

  const EncodeCounts& counts() const { return counts_; }
  // Of the block that the sink is being given.
  const EncodeCounts& block_counts() const { return block_counts_; }

 private:
  void Tell(size_t first, size_t count);
  // The ranges of rows that were not encoded by all together: first row and number of rows.
  std::vector<std::pair<size_t, size_t>> Unseen(size_t count) const;

  model::DualEncoder& model_;
  model::TextKind kind_;
  const TextSource& text_;
  const DistinctTexts& distinct_;
  const CacheOptions& options_;
  EncodeOptions encode_;
  size_t at_ = 0;  // the distinct text with which the call under way began
  EncodeCounts counts_;
  EncodeCounts block_counts_;
  size_t done_ = 0;                // texts
  std::map<size_t, size_t> seen_;  // ranges that all processes have encoded: first, count
};

}  // namespace tandem::search
