// Where `tandem encode` puts embeddings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "commands/encode/encode_texts.h"
#include "search/encode_counts.h"

namespace tandem::app {

class EncodeOutput {
 public:
  virtual ~EncodeOutput() = default;

  // Before the first block. `total` texts come, those of an earlier process counted; nothing where
  // that is not known. Throws OutputError where there is no room for them.
  virtual void Begin(std::optional<uint64_t> total) = 0;
  // The embeddings of the next block, float32 [texts, E]. Throws OutputError, NumericError.
  virtual void Write(const TextBlock& block, std::span<const float> rows,
                     const search::EncodeCounts& counts) = 0;
  // Behind the last block.
  virtual void Finish() = 0;
};

}  // namespace tandem::app
