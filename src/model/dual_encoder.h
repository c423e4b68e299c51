// Two towers that turn texts into embeddings; here both towers are one encoder.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensor/packed_tokens.h"
#include "tensor/precision.h"
#include "text/tokenizer.h"

namespace tandem::model {

enum class TextKind { kQuery, kDocument };

struct LoadOptions {
  std::optional<double> dropout;                 // default: the folder's config.json
  std::optional<size_t> max_query_tokens;        // default: the folder's
  std::optional<size_t> max_document_tokens;     // default: the folder's
  std::optional<std::string> query_prompt;       // default: the folder's prompts
  std::optional<std::string> document_prompt;
};

struct NamedParameter {
  std::string name;    // as in the weights file
  at::Tensor value;    // float32 leaf with requires_grad
  bool decay = true;   // false for biases and normalisation weights
};

// How one forward pass is run.
struct ForwardOptions {
  tensor::Precision precision = tensor::Precision::kFp32;
  bool training = false;  // dropout on
  uint64_t seed = 0;      // with `step` and the pack's text_keys: names the dropout mask
  uint64_t step = 0;
};

class DualEncoder {
 public:
  // Reads a sentence-transformers or plain Hugging Face folder. Throws ModelError.
  static std::unique_ptr<DualEncoder> Load(const std::filesystem::path& folder,
                                           const LoadOptions& options = {});
  virtual ~DualEncoder() = default;

  // Packed texts to embeddings, float32 [B, E]; differentiable where gradients are enabled.
  virtual at::Tensor Encode(const tensor::PackedTokens& tokens,
                            const ForwardOptions& options) = 0;

  virtual int64_t embedding_width() const = 0;  // E
  virtual std::vector<NamedParameter> Parameters() = 0;
  virtual const text::Tokenizer& tokenizer() const = 0;
  virtual size_t max_tokens(TextKind kind) const = 0;
  virtual const std::string& prompt(TextKind kind) const = 0;
  // "cosine" or "dot", of the folder (cosine where it says nothing).
  virtual const std::string& similarity() const = 0;
  // FLOPs of the encoder's matrix products for one token forward (attention not counted).
  virtual double flops_per_token() const = 0;

  // Writes a sentence-transformers folder (older layout), complete or not at all.
  virtual void Save(const std::filesystem::path& folder) const = 0;
};

}  // namespace tandem::model
