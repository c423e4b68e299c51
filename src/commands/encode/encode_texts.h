// The texts of `tandem encode`: read in blocks, and checked.
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

// As data::TextInput::Next.
using NextInputText = std::function<bool(data::InputText*)>;

// Texts that are encoded and written together.
struct TextBlock {
  std::vector<std::string> texts;
  std::string ids;    // a line for each
  uint64_t hash = 0;  // of ids and texts
};

// How many texts a block takes: as many, or fewer long ones. They decide which texts are encoded
// together, and with that the bytes.
struct BlockSize {
  size_t texts = 4096;
  size_t bytes = size_t{64} << 20;  // the text that reaches it is the block's last
};

// Reads the next block; false at the end.
bool ReadBlock(const NextInputText& next, const BlockSize& size, TextBlock* block);

// Which texts of the input are meant.
struct TextRange {
  uint64_t first = 0;
  uint64_t count = std::numeric_limits<uint64_t>::max();  // or fewer, to the end
};

// The texts of a range of the input, of which none has the id of another, and the first of which
// must be those of the blocks `kept`, as an earlier process has read them. Memory does not grow
// with their number.
class CheckedTexts {
 public:
  // `folder` is for a nameless file of the ids, where there are many. `kept` and `warnings` must
  // outlive the texts.
  CheckedTexts(const data::TextInputOptions& options, std::filesystem::path folder,
               std::span<const embeddings::JournalBlock> kept, data::Warnings& warnings,
               TextRange range = {});

  // As TextInput::Next. Throws DataError naming file and line: for ids that come twice, some of
  // which show only at the end; after the last text of a block of `kept` that has changed; where
  // there are fewer texts than `kept` has.
  bool Next(data::InputText* text);
  // Of the texts so far.
  uint64_t count() const { return count_; }
  // Of ids and texts so far.
  uint64_t hash() const { return all_.value(); }

 private:
  void CompareBlock(const data::InputText& text);
  void CheckEnd() const;

  data::TextInput input_;
  data::InputIds ids_;
  std::span<const embeddings::JournalBlock> kept_;  // not compared yet
  uint64_t kept_texts_;                             // of all blocks that were given
  uint64_t most_;                                   // texts of the range
  uint64_t count_ = 0;
  RunningHash all_;
  uint64_t in_block_ = 0;
  RunningHash hash_;         // of the block under way
  std::string block_start_;  // where it begins: FILE:LINE
};

}  // namespace tandem::app
