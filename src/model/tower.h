// One encoder with everything that turns texts into embeddings: its folder, tokenizer, head,
// lengths and prompts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dual_encoder.h"
#include "model/encoders/encoder.h"
#include "model/encoders/head.h"
#include "model/training/training_plan.h"
#include "tensor/core/tensor.h"
#include "weights/folders/model_folder.h"
#include "weights/folders/model_folder_writer.h"

namespace tandem::model {

class Tower {
 public:
  // `file` is the model's tandem.json. Its towers, and those of `options`, are not looked at.
  // Throws as DualEncoder::Load.
  Tower(weights::ModelFolder folder, const LoadOptions& options, weights::TandemFile file);

  // See DualEncoder::Prepare.
  void Prepare(tensor::Precision precision, tensor::Passes passes) {
    encoder_->Prepare(precision, passes);
  }
  void To(tensor::Device device);
  // Encodes a pack on any device; the result is on the device that To named.
  tensor::Tensor Encode(const tensor::PackedTokens& tokens, const ForwardOptions& options) const;
  std::vector<NamedParameter> Parameters() const;
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  size_t max_tokens(TextKind kind) const {
    return kind == TextKind::kQuery ? max_query_tokens_ : max_document_tokens_;
  }
  const std::string& prompt(TextKind kind) const {
    return kind == TextKind::kQuery ? query_prompt_ : document_prompt_;
  }
  bool include_prompt() const { return weights::PoolingOf(folder_).include_prompt; }
  std::string settings() const;
  std::string adapter_settings() const;  // "" without adapters
  void ReleasePages() const { folder_.weights->ReleasePages(); }
  double flops_per_token() const { return encoder_->flops_per_token(); }

  // The width of what Encode returns: the folder's, or less (LoadOptions::dimensions).
  int64_t embedding_width() const { return width_; }
  // DualEncoder::Cut.
  tensor::Tensor Cut(const tensor::Tensor& rows, int64_t width) const;

  const weights::ModelFolder& folder() const { return folder_; }
  Head& head() { return head_; }
  const Head& head() const { return head_; }
  // Says how the folder that is written differs from the one that was read: in `changes`, and in
  // what this tower has. Points into the parameters. Frozen tensors are carried through; adapters
  // are merged into their maps, in float32.
  weights::FolderChanges Changes(weights::FolderChanges changes) const;
  // Writes the adapters as PEFT does, and the modules after the encoder and the settings, in
  // `changes` and in what this tower has, as sentence-transformers does; `base` is what they are
  // adapters of.
  void SaveAdapter(const std::filesystem::path& path, const std::string& base,
                   weights::FolderChanges changes) const;
  bool adapted() const { return !plan_.adapted.empty(); }
  bool packs_on_use() const { return plan_.pack_on_use; }

 private:
  weights::TensorToWrite Merged(const weights::TensorView& view,
                                const AdaptedLinear& adapted) const;
  // `changes` with lengths and prompts.
  weights::FolderChanges WithSettings(weights::FolderChanges changes) const;

  weights::ModelFolder folder_;
  TrainingPlan plan_;
  std::unique_ptr<const text::Tokenizer> tokenizer_;
  std::unique_ptr<Encoder> encoder_;
  Head head_;
  size_t max_query_tokens_;
  size_t max_document_tokens_;
  std::optional<size_t> max_sequence_;  // max_seq_length to write; none: the folder's
  std::string query_prompt_;
  std::string document_prompt_;
  int64_t width_;          // of embeddings
  bool normalizes_again_;  // cut embeddings
  tensor::Device device_ = tensor::kCpuDevice;
};

}  // namespace tandem::model
