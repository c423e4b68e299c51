#include "commands/encode/encode_texts.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "data/input/byte_source.h"

namespace tandem::app {
namespace {

uint64_t TextsOf(std::span<const embeddings::JournalBlock> blocks) {
  uint64_t texts = 0;
  for (const embeddings::JournalBlock& block : blocks) texts += block.rows();
  return texts;
}

void AddTo(RunningHash& hash, const data::InputText& text) {
  hash.Add(text.id);
  hash.Add(text.text);
}

}  // namespace

bool ReadBlock(const NextInputText& next, const BlockSize& size, TextBlock* block) {
  block->texts.clear();
  block->ids.clear();
  RunningHash hash;
  size_t bytes = 0;
  data::InputText text;
  while (block->texts.size() < size.texts && bytes < size.bytes && next(&text)) {
    block->texts.emplace_back(text.text);
    block->ids.append(text.id).append("\n");
    AddTo(hash, text);
    bytes += text.text.size();
  }
  block->hash = hash.value();
  return !block->texts.empty();
}

CheckedTexts::CheckedTexts(const data::TextInputOptions& options, std::filesystem::path folder,
                           std::span<const embeddings::JournalBlock> kept, data::Warnings& warnings,
                           TextRange range)
    : input_(options, warnings),
      ids_(options, std::move(folder)),
      kept_(kept),
      kept_texts_(TextsOf(kept)),
      most_(range.count) {
  input_.Skip(range.first);
}

bool CheckedTexts::Next(data::InputText* text) {
  if (count_ == most_ || !input_.Next(text)) {
    CheckEnd();
    ids_.Finish(input_);
    return false;
  }
  ids_.Add(input_, *text);
  ++count_;
  AddTo(all_, *text);
  if (!kept_.empty()) CompareBlock(*text);
  return true;
}

void CheckedTexts::CompareBlock(const data::InputText& text) {
  if (in_block_++ == 0) block_start_ = fmt::format("{}:{}", text.file, text.line);
  AddTo(hash_, text);
  const embeddings::JournalBlock& block = kept_.front();
  if (in_block_ < block.rows()) return;
  if (hash_.value() != block.texts_hash) {
    throw DataError(text.file, text.line, text.id,
                    fmt::format("texts {} to {} of the input, which begin at {} and end here, are "
                                "not those that were encoded before; encode with --force",
                                count_ - in_block_ + 1, count_, block_start_));
  }
  kept_ = kept_.subspan(1);
  hash_ = {};
  in_block_ = 0;
}

void CheckedTexts::CheckEnd() const {
  if (kept_.empty()) return;
  throw DataError(data::NameOfInput(input_.files().back().path), 0, "",
                  fmt::format("the input ends here, after {} texts; {} were encoded before; encode "
                              "with --force",
                              count_, kept_texts_));
}

}  // namespace tandem::app
