// A cross-encoder: reads a query and a document as one text and gives a score for the pair, by the
// head of a sequence classifier.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/encoders/classification_head.h"
#include "model/encoders/encoder.h"
#include "tensor/core/tensor.h"
#include "tensor/packed_tokens.h"
#include "text/tokenizer.h"
#include "weights/folders/cross_encoder_folder.h"

namespace tandem::model {

class CrossEncoder {
 public:
  // Reads a folder as sentence-transformers' CrossEncoder does. `max_tokens` of a pair: none, the
  // folder's; 0, what the encoder takes. Throws ModelError for a broken or unsupported folder,
  // UsageError for a length above what the encoder takes.
  explicit CrossEncoder(const std::filesystem::path& folder,
                        std::optional<size_t> max_tokens = std::nullopt);

  // Moves the weights to a device, where Logits then computes; Prepare is needed again.
  void To(tensor::Device device);
  tensor::Device device() const { return device_; }  // at first the CPU
  // Packs the weights. Needed once for a precision; then several threads may call Logits.
  void Prepare(tensor::Precision precision);

  // Computes what the head gives for each label, before any activation, float32 [B, labels] on the
  // CPU, for packed pairs (with `types` where token_types() holds). In bf16 the encoder computes in
  // bf16 and the head in float. Throws UsageError for a pair longer than the encoder's positions.
  tensor::Tensor Logits(const tensor::PackedTokens& pairs, tensor::Precision precision) const;

  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  size_t max_tokens() const { return max_tokens_; }
  // Says whether packs need token types.
  bool token_types() const { return folder_.token_types; }
  const std::string& prompt() const { return folder_.prompt; }  // before the first text
  const std::vector<std::string>& labels() const { return folder_.head.labels; }
  // weights::CrossEncoderFolder::activation.
  const std::string& activation() const { return folder_.activation; }
  const weights::CrossEncoderFolder& folder() const { return folder_; }

 private:
  weights::CrossEncoderFolder folder_;
  std::unique_ptr<const text::Tokenizer> tokenizer_;
  std::unique_ptr<Encoder> encoder_;
  ClassificationHead head_;
  size_t max_tokens_;
  tensor::Device device_ = tensor::kCpuDevice;
};

}  // namespace tandem::model
