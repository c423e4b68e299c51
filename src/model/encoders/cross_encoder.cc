#include "model/encoders/cross_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "model/encoders/head.h"
#include "model/encoders/transformer.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/tensor.h"
#include "text/load/known_files.h"

namespace tandem::model {
namespace {

const weights::TensorView& ViewOf(const std::vector<weights::EncoderTensor>& tensors,
                                  std::string_view name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const weights::EncoderTensor& tensor) { return tensor.name == name; });
  if (found == tensors.end()) throw std::out_of_range(fmt::format("no tensor {}", name));
  return *found->view;
}

TensorSource SourceOf(const std::vector<weights::EncoderTensor>& tensors) {
  return [&tensors](std::string_view name) {
    return ParameterFrom(ViewOf(tensors, name)).set_requires_grad(false);
  };
}

// Called before any work.
void CheckEncodesPairs(const text::Tokenizer& tokenizer, const std::filesystem::path& folder) {
  std::vector<int32_t> ids, types;
  try {
    tokenizer.EncodePair({}, 0, &ids, &types);
  } catch (const ModelError&) {
    throw ModelError(folder.native(), "",
                     "its tokenizer has no template for pairs of texts (\"pair\" of "
                     "tokenizer.json's post_processor), which a cross-encoder needs");
  }
}

size_t LimitOf(const weights::CrossEncoderFolder& folder, const std::optional<size_t>& asked) {
  const auto most = static_cast<size_t>(folder.encoder.max_positions);
  if (!asked) return folder.max_tokens;
  if (*asked <= most) return *asked == 0 ? most : *asked;
  throw UsageError(fmt::format("{}: a pair may have at most {} tokens, not {}",
                               folder.path.native(), most, *asked));
}

}  // namespace

CrossEncoder::CrossEncoder(const std::filesystem::path& folder, std::optional<size_t> max_tokens)
    : folder_(weights::ReadCrossEncoderFolder(folder)),
      tokenizer_(text::LoadTokenizer(folder_.tokenizer.folder,
                                     {.lower_case = folder_.tokenizer.lower_case,
                                      .rows = static_cast<size_t>(folder_.encoder.vocabulary_size)},
                                     folder_.tokenizer.KnownFiles())),
      encoder_(MakeTransformer(folder_.encoder, 0.0, SourceOf(folder_.encoder.tensors))),
      head_(folder_.head, SourceOf(folder_.head.tensors)),
      max_tokens_(LimitOf(folder_, max_tokens)) {
  if (tokenizer_->vocabulary_size() > static_cast<size_t>(encoder_->vocabulary_size())) {
    throw ModelError(
        folder_.encoder_path.native(), "",
        fmt::format("its tokenizer has {} tokens and its word embeddings {} rows; tokenizer and "
                    "weights are of different models",
                    tokenizer_->vocabulary_size(), encoder_->vocabulary_size()));
  }
  CheckEncodesPairs(*tokenizer_, folder_.tokenizer.folder);
  folder_.weights->ReleasePages();  // the parameters are copies
}

void CrossEncoder::To(tensor::Device device) {
  encoder_->To(device);
  head_.To(device);
  device_ = device;
}

void CrossEncoder::Prepare(tensor::Precision precision) {
  encoder_->Prepare(precision, tensor::Passes::kForward);
}

tensor::Tensor CrossEncoder::Logits(const tensor::PackedTokens& pairs,
                                    tensor::Precision precision) const {
  if (pairs.longest > encoder_->max_positions()) {
    throw UsageError(fmt::format("a pair of {} tokens is longer than the encoder's {} positions",
                                 pairs.longest, encoder_->max_positions()));
  }
  const tensor::PackedTokens moved = pairs.To(device_);
  return tensor::OnCpu(head_.Forward(encoder_->Forward(moved, {.precision = precision}), moved));
}

}  // namespace tandem::model
