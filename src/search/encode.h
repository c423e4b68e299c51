// Texts to embeddings in bulk: tokenised, sorted by length, packed and encoded window by window.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/process/interrupt.h"
#include "data/texts/texts.h"
#include "dist/process_group.h"
#include "embeddings/encode_counts.h"
#include "model/dual_encoder.h"
#include "search/length_batches.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

using embeddings::EncodeCounts;

// Returns the prompt of the text with this index.
using PromptSource = std::function<std::string_view(size_t index)>;

struct EncodingAhead;

struct EncodeOptions {
  tensor::Precision precision = tensor::Precision::kFp32;
  int threads = 1;  // of the tokenizer; tensor operations use tensor::ThreadCount()
  // Tokens of a forward pass, so few that a layer's output stays in the processor's cache. The
  // first is for a pass on all threads; with many texts each thread makes passes of its own, of the
  // second.
  size_t batch_tokens = 4096;
  size_t thread_batch_tokens = 768;
  // Used where the model is on a device, which computes one pass at a time. Chosen by the size of
  // activations (a few hundred MB for a base model), not measured.
  size_t device_batch_tokens = 65536;
  size_t window_texts = 16384;  // whose ids and embeddings are in memory at a time
  std::string label;            // of the progress bar; empty: none
  size_t encoded_before = 0;    // texts that an earlier process has encoded: progress counts them
  PromptSource prompt;          // null: the model's, for all texts
  // Told the counts of each window before its rows are given to the sink.
  std::function<void(const EncodeCounts&)> counted;
  // Told before many texts are encoded, once for all of them: somebody may say how long it takes.
  std::function<void(const EncodingAhead&)> before;
  // Asked between forward passes; the window under way is thrown away then (Interrupted).
  StopRequest stop;
  // Where nobody may stop a window: told before its first forward pass (0) and after each which
  // share of it is done, up to 1, by one thread at a time.
  std::function<void(double share)> window_share;
  // Told after each forward pass how many of all texts are encoded, those of `encoded_before`
  // among them, by one thread at a time. It must not throw.
  std::function<void(size_t texts)> progress;
  // The processes that encode together, all of them the same texts: each encodes its share of a
  // window, and all get all embeddings. Null, or a group of one: this one alone.
  dist::ProcessGroup* group = nullptr;
  // Says whether the processes of the group first compare what they encode (agree_on_inputs.h).
  bool compare_inputs = false;
};

// Tokens of the passes of a model on `device`, which one thread feeds where it is not the CPU.
BatchTokens BatchTokensOn(const tensor::Device& device, const EncodeOptions& options);

// Returns the text with this index.
using TextSource = std::function<std::string_view(size_t index)>;
// What is going to be encoded, valid during the call that tells it.
struct EncodingAhead {
  model::DualEncoder& model;
  model::TextKind kind;
  size_t texts;            // that `text` gives, of which most are to be encoded
  const TextSource& text;  // with the prompts of `options`
  const EncodeOptions& options;
  size_t count;  // texts that are to be encoded; may be above `texts`, which are then the first
};
// Receives the embeddings of texts first to first + n - 1, float32 [n, E], in the order of the
// texts.
using EmbeddingSink = std::function<void(size_t first, const tensor::Tensor& rows)>;

// Encodes `count` texts, each with its prompt in front and cut at the model's length limit for
// `kind`. Needs memory for one window, whatever `count` is. An embedding does not depend on the
// other texts but for rounding.
EncodeCounts EncodeTexts(model::DualEncoder& model, model::TextKind kind, size_t count,
                         const TextSource& text, const EncodeOptions& options,
                         const EmbeddingSink& sink);

// Encodes texts that come one by one, in windows that the caller chooses: memory holds one window
// of them, however many there are.
class StreamEncoder {
 public:
  // `total` texts are to come, for the progress; 0 where that is not known. `model` and `options`
  // must outlive the encoder; the window of the options is not used.
  StreamEncoder(model::DualEncoder& model, model::TextKind kind, const EncodeOptions& options,
                size_t total);
  StreamEncoder(const StreamEncoder&) = delete;
  StreamEncoder& operator=(const StreamEncoder&) = delete;
  ~StreamEncoder();

  // The embeddings of the next texts, float32 [N, E]. Sets `counts` to those of these texts.
  tensor::Tensor Encode(std::span<const std::string> texts, EncodeCounts* counts);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Encodes all of `texts` and returns their embeddings, float32 [N, E].
tensor::Tensor EncodeAll(model::DualEncoder& model, model::TextKind kind, const data::Texts& texts,
                         const EncodeOptions& options, EncodeCounts* counts = nullptr);

// Warnings about truncated and empty texts and those cut inside their prompt, one line each; silent
// where there are none. `what` is a plural ("documents").
void ReportCounts(const EncodeCounts& counts, std::string_view what, size_t limit);

}  // namespace tandem::search
