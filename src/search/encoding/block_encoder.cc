#include "search/encoding/block_encoder.h"

#include "base/process/interrupt.h"
#include "tensor/core/make.h"

namespace tandem::search {

BlockEncoder::BlockEncoder(model::DualEncoder& model, model::TextKind kind, const TextSource& text,
                           const DistinctTexts& distinct, const CacheOptions& options)
    : model_(model),
      kind_(kind),
      text_(text),
      distinct_(distinct),
      options_(options),
      encode_(options.encode) {
  encode_.window_texts = kBlockRows;
  encode_.compare_inputs = false;  // once for all blocks (EmbedDistinct)
  encode_.before = nullptr;        // Announce
  encode_.counted = [this](const EncodeCounts& counts) { block_counts_ = counts; };
  // A block is finished and kept, so that nothing of it is lost.
  if (!options.folder.empty()) encode_.stop = nullptr;
  if (!options.encode.prompt) return;
  encode_.prompt = [this](size_t i) { return options_.encode.prompt(distinct_.first[at_ + i]); };
}

void BlockEncoder::Announce(size_t count) {
  if (!options_.encode.before || count == 0) return;
  at_ = 0;
  const TextSource text = [this](size_t i) { return text_(distinct_.first[i]); };
  options_.encode.before({.model = model_,
                          .kind = kind_,
                          .texts = distinct_.size(),
                          .text = text,
                          .options = encode_,
                          .count = count});
}

void BlockEncoder::Encode(size_t first, size_t count, const EmbeddingSink& sink) {
  if (shared()) Tell(first, count);
  EncodeTogether(first, count, sink);
}

void BlockEncoder::EncodeTogether(size_t first, size_t count, const EmbeddingSink& sink) {
  at_ = first;
  const EncodeCounts counted = EncodeTexts(
      model_, kind_, count, [&](size_t i) { return text_(distinct_.first[first + i]); }, encode_,
      [&](size_t at, const tensor::Tensor& rows) {
        sink(first + at, rows);
        done_ += static_cast<size_t>(rows.size(0));
        if (options_.progress) options_.progress(done_);
        if (options_.between_blocks) options_.between_blocks();
        ThrowIfStopped(options_.encode.stop);
        if (shared() && options_.between_shared_blocks) options_.between_shared_blocks();
      });
  counts_ += counted;
}

void BlockEncoder::Complete(const tensor::Tensor& rows) {
  Tell(0, 0);
  for (const auto& [first, count] : Unseen(static_cast<size_t>(rows.size(0)))) {
    encode_.group->Broadcast(
        rows.narrow(0, static_cast<int64_t>(first), static_cast<int64_t>(count)));
  }
}

tensor::Tensor BlockEncoder::Follow(size_t count, int64_t width) {
  const tensor::Tensor all = tensor::Empty({static_cast<int64_t>(count), width}, tensor::kFloat);
  while (true) {
    const tensor::Tensor range = tensor::Zeros({2}, tensor::kLong);
    encode_.group->Broadcast(range);
    const auto* told = range.data_ptr<int64_t>();
    if (told[1] == 0) break;
    const auto first = static_cast<size_t>(told[0]), size = static_cast<size_t>(told[1]);
    seen_[first] = size;
    EncodeTogether(first, size, [&](size_t at, const tensor::Tensor& rows) {
      all.narrow(0, static_cast<int64_t>(at), rows.size(0)).copy_(rows);
    });
  }
  for (const auto& [first, size] : Unseen(count)) {
    encode_.group->Broadcast(
        all.narrow(0, static_cast<int64_t>(first), static_cast<int64_t>(size)));
  }
  return all;
}

void BlockEncoder::Tell(size_t first, size_t count) {
  const tensor::Tensor range = tensor::Empty({2}, tensor::kLong);
  range.data_ptr<int64_t>()[0] = static_cast<int64_t>(first);
  range.data_ptr<int64_t>()[1] = static_cast<int64_t>(count);
  encode_.group->Broadcast(range);
  if (count > 0) seen_[first] = count;
}

std::vector<std::pair<size_t, size_t>> BlockEncoder::Unseen(size_t count) const {
  std::vector<std::pair<size_t, size_t>> ranges;
  size_t next = 0;
  for (const auto& [first, size] : seen_) {
    if (first > next) ranges.emplace_back(next, first - next);
    next = first + size;
  }
  if (next < count) ranges.emplace_back(next, count - next);
  return ranges;
}

}  // namespace tandem::search
