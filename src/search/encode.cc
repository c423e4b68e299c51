#include "search/encode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/hashes/running_hash.h"
#include "base/log.h"
#include "base/process/interrupt.h"
#include "base/progress.h"
#include "dist/gather.h"
#include "model/prompt_lengths.h"
#include "search/agree_on_inputs.h"
#include "search/length_batches.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/memory/page_arena.h"
#include "tensor/packed_tokens.h"

namespace tandem::search {
namespace {

using text::EncodedTexts;

// The prompt of text `index`.
std::string_view PromptOf(const model::DualEncoder& model, model::TextKind kind,
                          const EncodeOptions& options, size_t index) {
  return options.prompt ? options.prompt(index) : std::string_view(model.prompt(kind));
}

EncodedTexts Tokenize(const model::DualEncoder& model, model::TextKind kind, size_t first,
                      size_t count, const TextSource& text, const EncodeOptions& options) {
  std::deque<std::string> prompted;  // whose strings stay where they are
  std::vector<std::string_view> views;
  views.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view plain = text(first + i);
    const std::string_view prompt = PromptOf(model, kind, options, first + i);
    views.push_back(prompt.empty() ? plain : prompted.emplace_back(prompt).append(plain));
  }
  return model.tokenizer(kind).EncodeAll(views, model.max_tokens(kind), options.threads);
}

// The texts of a window as tokens, and how many of these are each text's prompt's.
struct WindowTokens {
  EncodedTexts texts;
  std::vector<int32_t> prompts;  // empty: nothing is left out of pooling
};

tensor::PackedTokens PackBatch(const WindowTokens& tokens, std::span<const size_t> batch) {
  std::vector<std::span<const int32_t>> spans;
  std::vector<int32_t> prompts;
  for (const size_t index : batch) {
    spans.push_back(tokens.texts[index]);
    if (!tokens.prompts.empty()) prompts.push_back(tokens.prompts[index]);
  }
  return tensor::Pack(spans, {}, prompts);
}

// Encodes the texts of `batch` and puts each embedding in its row of `rows`.
void EncodeBatch(const model::DualEncoder& model, const WindowTokens& tokens,
                 std::span<const size_t> batch, model::TextKind kind, tensor::Precision precision,
                 const tensor::Tensor& rows) {
  const tensor::Tensor embeddings =
      tensor::OnCpu(model.Encode(PackBatch(tokens, batch), kind, {.precision = precision}));
  const auto width = static_cast<size_t>(embeddings.size(1));
  const float* from = embeddings.data_ptr<float>();
  float* to = rows.data_ptr<float>();
  for (size_t i = 0; i < batch.size(); ++i) {
    std::memcpy(to + batch[i] * width, from + i * width, width * sizeof(float));
  }
}

// Tokens of an empty text: its special tokens and those of its prompt.
class EmptyLengths {
 public:
  EmptyLengths(const model::DualEncoder& model, model::TextKind kind)
      : tokenizer_(model.tokenizer(kind)), max_tokens_(model.max_tokens(kind)) {}

  size_t Of(std::string_view prompt) {
    const auto found = lengths_.find(prompt);
    if (found != lengths_.end()) return found->second;
    std::vector<int32_t> ids;
    tokenizer_.Encode(prompt, max_tokens_, &ids);
    return lengths_.emplace(prompt, ids.size()).first->second;
  }

 private:
  const text::Tokenizer& tokenizer_;
  size_t max_tokens_;
  std::map<std::string, size_t, std::less<>> lengths_;
};

// Encodes texts window by window, counts them and shows the progress.
class Encoding {
 public:
  // `total`: the number of all texts; 0 where it is not known.
  Encoding(model::DualEncoder& model, model::TextKind kind, const EncodeOptions& options,
           size_t total)
      : model_(model),
        kind_(kind),
        options_(options),
        empty_lengths_(model, kind),
        prompt_lengths_(model.tokenizer(kind), model.max_tokens(kind)) {
    model.Prepare(kind, options.precision, tensor::Passes::kForward);
    if (!options.label.empty()) {
      const size_t before = options.encoded_before;
      progress_.emplace(ProgressOptions{
          .label = options.label, .total = total == 0 ? 0 : before + total, .first = before});
    }
  }

  // Encodes texts first .. first + size as they were numbered over all windows; adds to `counts`.
  tensor::Tensor Window(size_t first, size_t size, const TextSource& text, EncodeCounts* counts) {
    if (!dist::IsShared(options_.group)) {
      return OwnWindow(first, size, text, counts);
    }
    dist::ProcessGroup& group = *options_.group;
    const dist::Share share =
        dist::ShareOf(static_cast<int64_t>(size), group.rank(), group.ranks());
    EncodeCounts own;
    const tensor::Tensor rows = OwnWindow(first + static_cast<size_t>(share.begin),
                                          static_cast<size_t>(share.size()), text, &own);
    *counts += AddUp(own, group);
    return dist::RowExchange::OfEvenShares(group, static_cast<int64_t>(size)).Gather(rows);
  }

 private:
  static EncodeCounts AddUp(const EncodeCounts& own, dist::ProcessGroup& group) {
    EncodeCounts::Numbers numbers = own.AsNumbers();
    const tensor::Tensor counts = tensor::Empty({std::ssize(numbers)}, tensor::kLong);
    std::copy(numbers.begin(), numbers.end(), counts.data_ptr<int64_t>());
    const tensor::Tensor all = group.AllGather(counts);  // [ranks, numbers]
    numbers.fill(0);
    for (int64_t rank = 0; rank < all.size(0); ++rank) {
      const auto* of_rank = all[rank].data_ptr<int64_t>();
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] += of_rank[i];
    }
    return EncodeCounts::FromNumbers(numbers);
  }

  tensor::Tensor OwnWindow(size_t first, size_t size, const TextSource& text,
                           EncodeCounts* counts) {
    const WindowTokens window{Tokenize(model_, kind_, first, size, text, options_),
                              PromptTokens(first, size)};
    const EncodedTexts& texts = window.texts;
    Count(window, first, counts);
    const tensor::Tensor rows =
        tensor::Empty({static_cast<int64_t>(size), model_.embedding_width()}, tensor::kFloat);
    const auto tell = [this](double share) {
      if (!options_.stop && options_.window_share) options_.window_share(share);
    };
    tell(0);
    std::mutex mutex;  // of progress
    size_t tokens_done = 0;
    const auto encode = [&](std::span<const size_t> batch, size_t batch_tokens) {
      ThrowIfStopped(options_.stop);
      EncodeBatch(model_, window, batch, kind_, options_.precision, rows);
      const std::lock_guard lock(mutex);
      tokens_done += batch_tokens;
      // Long texts come first: the share of tokens is the share of the work.
      const size_t tokens = std::max<size_t>(1, texts.ids.size());
      tell(static_cast<double>(tokens_done) / static_cast<double>(tokens));
      const size_t done = options_.encoded_before + first + size * tokens_done / tokens;
      if (progress_) progress_->Update(done);
      if (options_.progress) options_.progress(done);
    };
    ForLengthBatches(texts, BatchTokensOn(model_.device(), options_), encode);
    return rows;
  }

  void Count(const WindowTokens& window, size_t first, EncodeCounts* counts) {
    const EncodedTexts& texts = window.texts;
    counts->texts += texts.size();
    counts->tokens += texts.ids.size();
    counts->truncated += texts.truncated;
    for (size_t i = 0; i < texts.size(); ++i) {
      const size_t empty = empty_lengths_.Of(PromptOf(model_, kind_, options_, first + i));
      if (texts[i].empty()) {
        ++counts->tokenless;
        continue;
      }
      counts->empty += texts[i].size() <= empty ? 1 : 0;
      if (window.prompts.empty()) continue;
      counts->only_prompt += texts[i].size() <= static_cast<size_t>(window.prompts[i]) ? 1 : 0;
    }
  }

  // The prompt tokens of each text; empty where pooling takes prompts in.
  std::vector<int32_t> PromptTokens(size_t first, size_t size) {
    std::vector<int32_t> tokens;
    if (model_.include_prompt(kind_)) return tokens;
    for (size_t i = 0; i < size; ++i) {
      tokens.push_back(prompt_lengths_.Of(PromptOf(model_, kind_, options_, first + i)));
    }
    return tokens;
  }

  const model::DualEncoder& model_;
  model::TextKind kind_;
  const EncodeOptions& options_;
  EmptyLengths empty_lengths_;
  model::PromptLengths prompt_lengths_;
  std::optional<Progress> progress_;
};

uint64_t HashOf(size_t count, const TextSource& text, const PromptSource& prompt) {
  RunningHash hash;
  for (size_t i = 0; i < count; ++i) {
    if (prompt) hash.Add(prompt(i));
    hash.Add(text(i));
  }
  return hash.value();
}

}  // namespace

BatchTokens BatchTokensOn(const tensor::Device& device, const EncodeOptions& options) {
  if (!device.is_cpu()) return {.whole = options.device_batch_tokens, .of_thread = 0};
  return {.whole = options.batch_tokens, .of_thread = options.thread_batch_tokens};
}

EncodeCounts EncodeTexts(model::DualEncoder& model, model::TextKind kind, size_t count,
                         const TextSource& text, const EncodeOptions& options,
                         const EmbeddingSink& sink) {
  const tensor::NoGradGuard no_gradient;
  if (options.compare_inputs && dist::IsShared(options.group)) {
    AgreeOnInputs(model, kind, count, HashOf(count, text, options.prompt), options);
  }
  if (options.before) {
    options.before({.model = model,
                    .kind = kind,
                    .texts = count,
                    .text = text,
                    .options = options,
                    .count = count});
  }
  Encoding encoding(model, kind, options, count);
  EncodeCounts counts;
  for (size_t first = 0; first < count; first += options.window_texts) {
    const size_t size = std::min(options.window_texts, count - first);
    EncodeCounts of_window;
    const tensor::Tensor rows = encoding.Window(first, size, text, &of_window);
    counts += of_window;
    if (options.counted) options.counted(of_window);
    sink(first, rows);
  }
  tensor::TrimTensorArena();
  return counts;
}

struct StreamEncoder::State {
  model::DualEncoder& model;
  model::TextKind kind;
  const EncodeOptions& options;
  size_t total;  // 0: not known
  Encoding encoding;
  size_t texts = 0;  // of all windows so far
};

StreamEncoder::StreamEncoder(model::DualEncoder& model, model::TextKind kind,
                             const EncodeOptions& options, size_t total)
    : state_(new State{model, kind, options, total, Encoding(model, kind, options, total)}) {}

StreamEncoder::~StreamEncoder() { tensor::TrimTensorArena(); }

tensor::Tensor StreamEncoder::Encode(std::span<const std::string> texts, EncodeCounts* counts) {
  const tensor::NoGradGuard no_gradient;
  const size_t first = state_->texts;
  state_->texts += texts.size();
  *counts = {};
  const TextSource text = [&](size_t i) -> std::string_view { return texts[i - first]; };
  if (first == 0 && state_->total > 0 && state_->options.before) {
    state_->options.before({.model = state_->model,
                            .kind = state_->kind,
                            .texts = texts.size(),
                            .text = text,
                            .options = state_->options,
                            .count = state_->total});
  }
  return state_->encoding.Window(first, texts.size(), text, counts);
}

tensor::Tensor EncodeAll(model::DualEncoder& model, model::TextKind kind, const data::Texts& texts,
                         const EncodeOptions& options, EncodeCounts* counts) {
  const tensor::Tensor all =
      tensor::Empty({static_cast<int64_t>(texts.size()), model.embedding_width()}, tensor::kFloat);
  const EncodeCounts counted = EncodeTexts(
      model, kind, texts.size(), [&](size_t i) { return texts.text(i); }, options,
      [&](size_t first, const tensor::Tensor& rows) {
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
  if (counts.tokenless > 0) {
    Warn(
        fmt::format("{} of {} {} are empty and have no tokens, since the tokenizer adds no special "
                    "ones: they have embeddings of zeros",
                    counts.tokenless, counts.texts, what));
  }
  if (counts.only_prompt > 0) {
    Warn(fmt::format(
        "{} of {} {} are cut inside their prompt, which pooling leaves out: they have embeddings "
        "of zeros (with cls, of their first token); allow more tokens, or take a shorter prompt",
        counts.only_prompt, counts.texts, what));
  }
}

}  // namespace tandem::search
