// Reads the texts of `tandem encode` in blocks, and checks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/hashes/running_hash.h"
#include "data/input/input_ids.h"
#include "data/input/text_input.h"
#include "embeddings/layouts/npy_journal.h"

namespace tandem::app {

// Reads the next text, as data::TextInput::Next does.
using NextInputText = std::function<bool(data::InputText*)>;

// A block of texts that are encoded and written together.
struct TextBlock {
  std::vector<std::string> texts;
  std::string ids;    // a line for each text
  uint64_t hash = 0;  // of ids and texts
};

// The size of a block: a number of texts, or fewer if they are long. It decides which texts are
// encoded together, and so the bytes of the embeddings.
struct BlockSize {
  size_t texts = 4096;
  size_t bytes = size_t{64} << 20;  // the text that reaches it is the last of its block
};

// Reads the next block; returns false at the end.
bool ReadBlock(const NextInputText& next, const BlockSize& size, TextBlock* block);

// A range of the input's texts.
struct TextRange {
  uint64_t first = 0;
  uint64_t count = std::numeric_limits<uint64_t>::max();  // fewer if the input ends earlier
};

// Reads the texts of a range of the input and checks that no two have the same id, and that the
// first ones are those of the blocks `kept`, which an earlier process has read. Memory does not
// grow with their number.
class CheckedTexts {
 public:
  // `folder` is for a nameless file of the ids, if there are many. `kept` and `warnings` must
  // outlive this object.
  CheckedTexts(const data::TextInputOptions& options, std::filesystem::path folder,
               std::span<const embeddings::JournalBlock> kept, data::Warnings& warnings,
               TextRange range = {});

  // Reads as TextInput::Next does. Throws DataError naming file and line if an id occurs twice
  // (some are found only at the end), after the last text of a block of `kept` if the block has
  // changed, and if there are fewer texts than in `kept`.
  bool Next(data::InputText* text);
  // Number of texts so far.
  uint64_t count() const { return count_; }
  // Hash of the ids and texts so far.
  uint64_t hash() const { return all_.value(); }

 private:
  void CompareBlock(const data::InputText& text);
  void CheckEnd() const;

  data::TextInput input_;
  data::InputIds ids_;
  std::span<const embeddings::JournalBlock> kept_;  // blocks that are not yet compared
  uint64_t kept_texts_;                             // number of texts in all blocks that were given
  uint64_t most_;                                   // number of texts in the range
  uint64_t count_ = 0;
  RunningHash all_;
  uint64_t in_block_ = 0;
  RunningHash hash_;         // of the current block
  std::string block_start_;  // the place where it begins, FILE:LINE
};

}  // namespace tandem::app
