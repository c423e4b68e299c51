// One encoder with all that turns texts into embeddings: folder, tokenizer, head, lengths, prompts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/dual_encoder.h"
#include "model/encoder.h"
#include "model/head.h"
#include "weights/model_folder.h"
#include "weights/model_folder_writer.h"

namespace tandem::model {

class Tower {
 public:
  // Of `options`, what towers there are is not looked at. Throws as DualEncoder::Load.
  Tower(weights::ModelFolder folder, const LoadOptions& options);

  // As DualEncoder's.
  void Prepare(tensor::Precision precision, tensor::Passes passes) {
    encoder_->Prepare(precision, passes);
  }
  at::Tensor Encode(const tensor::PackedTokens& tokens, const ForwardOptions& options) const;
  std::vector<NamedParameter> Parameters() const;
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  size_t max_tokens(TextKind kind) const {
    return kind == TextKind::kQuery ? max_query_tokens_ : max_document_tokens_;
  }
  const std::string& prompt(TextKind kind) const {
    return kind == TextKind::kQuery ? query_prompt_ : document_prompt_;
  }
  const std::string& similarity() const { return similarity_; }
  std::string settings() const;
  double flops_per_token() const { return encoder_->flops_per_token(); }

  const weights::ModelFolder& folder() const { return folder_; }
  Head& head() { return head_; }
  const Head& head() const { return head_; }
  // What the folder must be written with; points into the parameters.
  weights::FolderChanges Changes() const;

 private:
  std::optional<std::map<std::string, std::string>> PromptsToWrite() const;

  weights::ModelFolder folder_;
  std::unique_ptr<const text::Tokenizer> tokenizer_;
  std::unique_ptr<Encoder> encoder_;
  Head head_;
  size_t max_query_tokens_;
  size_t max_document_tokens_;
  std::string query_prompt_;
  std::string document_prompt_;
  std::string similarity_;
};

}  // namespace tandem::model
