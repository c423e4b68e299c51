// An output takes embeddings as they are made, block after block.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "embeddings/encode_counts.h"

namespace tandem::embeddings {

// Texts that were encoded together.
struct EncodedBlock {
  std::span<const float> rows;  // [counts.texts, E]
  std::string_view ids;         // a line for each
  uint64_t texts_hash = 0;      // of ids and texts
  EncodeCounts counts;
};

class BlockOutput {
 public:
  virtual ~BlockOutput() = default;

  // Comes before the first block. `total` texts come, those of an earlier process counted; it is
  // nothing where that is not known. Throws OutputError where there is no room for them.
  virtual void Begin(std::optional<uint64_t> total) = 0;
  // Throws OutputError, NumericError.
  virtual void Write(const EncodedBlock& block) = 0;
  // Comes after the last block.
  virtual void Finish() = 0;
};

}  // namespace tandem::embeddings
