#include "search/encode.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "base/log.h"
#include "base/progress.h"
#include "tensor/packed_tokens.h"

namespace tandem::search {
namespace {

using text::EncodedTexts;

EncodedTexts Tokenize(const model::DualEncoder& model, model::TextKind kind, size_t first,
                      size_t count, const TextSource& text, int threads) {
  const std::string& prompt = model.prompt(kind);
  std::vector<std::string> prompted;
  std::vector<std::string_view> views;
  views.reserve(count);
  prompted.reserve(prompt.empty() ? 0 : count);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view plain = text(first + i);
    views.push_back(prompt.empty() ? plain : prompted.emplace_back(prompt).append(plain));
  }
  return model.tokenizer().EncodeAll(views, model.max_tokens(kind), threads);
}

// Texts by falling length, so that a batch holds texts of like length; ties in order.
std::vector<size_t> LongestFirst(const EncodedTexts& texts) {
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return texts[a].size() > texts[b].size(); });
  return order;
}

// Where the batch that begins at `begin` ends: as many texts as fit the budget, at least one.
size_t BatchEnd(const EncodedTexts& texts, const std::vector<size_t>& order, size_t begin,
                size_t budget) {
  size_t end = begin, tokens = 0;
  while (end < order.size() && (end == begin || tokens + texts[order[end]].size() <= budget)) {
    tokens += texts[order[end++]].size();
  }
  return end;
}

// Encodes the texts of `batch` and puts each embedding in its row of `rows`.
void EncodeBatch(model::DualEncoder& model, const EncodedTexts& texts,
                 std::span<const size_t> batch, tensor::Precision precision,
                 const at::Tensor& rows) {
  std::vector<std::span<const int32_t>> spans;
  for (const size_t index : batch) spans.push_back(texts[index]);
  const at::Tensor embeddings =
      model.Encode(tensor::Pack(spans), {.precision = precision}).contiguous();
  const auto width = static_cast<size_t>(embeddings.size(1));
  const float* from = embeddings.data_ptr<float>();
  float* to = rows.data_ptr<float>();
  for (size_t i = 0; i < batch.size(); ++i) {
    std::memcpy(to + batch[i] * width, from + i * width, width * sizeof(float));
  }
}

// Tokens of an empty text, its special tokens and the prompt.
size_t EmptyLength(const model::DualEncoder& model, model::TextKind kind) {
  std::vector<int32_t> ids;
  model.tokenizer().Encode(model.prompt(kind), model.max_tokens(kind), &ids);
  return ids.size();
}

}  // namespace

EncodeCounts EncodeTexts(model::DualEncoder& model, model::TextKind kind, size_t count,
                         const TextSource& text, const EncodeOptions& options,
                         const EmbeddingSink& sink) {
  const at::NoGradGuard no_gradient;
  EncodeCounts counts{.texts = count};
  const size_t empty_length = EmptyLength(model, kind);
  std::optional<Progress> progress;
  if (!options.label.empty()) {
    progress.emplace(ProgressOptions{.label = options.label, .total = count});
  }
  size_t done = 0;
  for (size_t first = 0; first < count; first += options.window_texts) {
    const size_t size = std::min(options.window_texts, count - first);
    const EncodedTexts texts = Tokenize(model, kind, first, size, text, options.threads);
    counts.tokens += texts.ids.size();
    counts.truncated += texts.truncated;
    for (size_t i = 0; i < size; ++i) counts.empty += texts[i].size() <= empty_length;
    const at::Tensor rows =
        at::empty({static_cast<int64_t>(size), model.embedding_width()}, at::kFloat);
    const std::vector<size_t> order = LongestFirst(texts);
    for (size_t begin = 0; begin < order.size();) {
      const size_t end = BatchEnd(texts, order, begin, options.batch_tokens);
      EncodeBatch(model, texts, std::span(order).subspan(begin, end - begin), options.precision,
                  rows);
      done += end - begin;
      begin = end;
      if (progress) progress->Update(done);
    }
    sink(first, rows);
  }
  return counts;
}

at::Tensor EncodeAll(model::DualEncoder& model, model::TextKind kind, const data::Texts& texts,
                     const EncodeOptions& options, EncodeCounts* counts) {
  const at::Tensor all =
      at::empty({static_cast<int64_t>(texts.size()), model.embedding_width()}, at::kFloat);
  const EncodeCounts counted = EncodeTexts(
      model, kind, texts.size(), [&](size_t i) { return texts.text(i); }, options,
      [&](size_t first, const at::Tensor& rows) {
        all.narrow(0, static_cast<int64_t>(first), rows.size(0)).copy_(rows);
      });
  if (counts) *counts = counted;
  return all;
}

void ReportCounts(const EncodeCounts& counts, std::string_view what, size_t limit) {
  if (counts.truncated > 0) {
    Warn(fmt::format("{} of {} {} are longer than {} tokens and were cut there", counts.truncated,
                     counts.texts, what, limit));
  }
  if (counts.empty > 0) {
    Warn(fmt::format("{} of {} {} are empty and were encoded as their special tokens", counts.empty,
                     counts.texts, what));
  }
}

}  // namespace tandem::search
