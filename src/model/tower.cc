#include "model/tower.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "model/bert.h"

namespace tandem::model {
namespace {

// The one place that knows which architectures there are.
std::unique_ptr<Encoder> MakeEncoder(const weights::ModelFolder& folder,
                                     const LoadOptions& options) {
  const TensorSource tensors = [&](std::string_view name) {
    return ParameterFrom(*folder.tensor(name).view);
  };
  const weights::EncoderConfig& config = folder.config;
  return MakeBert(config,
                  {.hidden = options.dropout.value_or(config.hidden_dropout),
                   .attention = options.dropout.value_or(config.attention_dropout)},
                  tensors);
}

size_t LengthLimit(const std::optional<size_t>& wanted, const weights::ModelFolder& folder,
                   const Encoder& encoder) {
  const auto most = static_cast<size_t>(encoder.max_positions());
  if (!wanted) return folder.max_tokens.tokens;
  if (*wanted == 0) return most;
  if (*wanted > most) {
    throw UsageError(
        fmt::format("{}: a text may have at most {} tokens (its position table), not {}",
                    folder.path.native(), most, *wanted));
  }
  return *wanted;
}

std::string ModuleText(const weights::HeadModule& module) {
  if (const auto* pooling = std::get_if<weights::Pooling>(&module)) {
    return fmt::format("pooling {}\n", weights::PoolingModeName(pooling->mode));
  }
  if (const auto* dense = std::get_if<weights::Dense>(&module)) {
    return fmt::format("dense {} to {}, {}\n", dense->in_features, dense->out_features,
                       weights::ActivationName(dense->activation));
  }
  return "normalize\n";
}

weights::ModelFolder WithProjection(weights::ModelFolder folder,
                                    const std::optional<int64_t>& width) {
  if (width) weights::AddProjection(&folder, *width);
  return folder;
}

void Append(std::string name, const at::Tensor& value, weights::FolderChanges* changes) {
  const auto sizes = value.sizes();
  changes->tensors.push_back(
      weights::Float32Tensor(std::move(name), weights::Shape(sizes.begin(), sizes.end()),
                             {value.data_ptr<float>(), static_cast<size_t>(value.numel())}));
}

}  // namespace

Tower::Tower(weights::ModelFolder folder, const LoadOptions& options)
    : folder_(WithProjection(std::move(folder), options.projection)),
      tokenizer_(text::LoadTokenizer(folder_.encoder_path)),
      encoder_(MakeEncoder(folder_, options)),
      head_(folder_.head, options.seed),
      max_query_tokens_(LengthLimit(options.max_query_tokens, folder_, *encoder_)),
      max_document_tokens_(LengthLimit(options.max_document_tokens, folder_, *encoder_)),
      query_prompt_(options.query_prompt.value_or(folder_.query_prompt)),
      document_prompt_(options.document_prompt.value_or(folder_.document_prompt)),
      similarity_(weights::SimilarityName(folder_.similarity)) {
  if (tokenizer_->vocabulary_size() > static_cast<size_t>(encoder_->vocabulary_size())) {
    throw ModelError(
        folder_.encoder_path.native(), "",
        fmt::format("its tokenizer has {} tokens and its word embeddings {} rows; tokenizer and "
                    "weights are of different models",
                    tokenizer_->vocabulary_size(), encoder_->vocabulary_size()));
  }
  folder_.weights->ReleasePages();  // the parameters are copies
}

at::Tensor Tower::Encode(const tensor::PackedTokens& tokens, const ForwardOptions& options) const {
  if (tokens.longest > encoder_->max_positions()) {
    throw UsageError(fmt::format("a text of {} tokens is longer than the encoder's {} positions",
                                 tokens.longest, encoder_->max_positions()));
  }
  return head_.Forward(encoder_->Forward(tokens, options), tokens);
}

std::vector<NamedParameter> Tower::Parameters() const {
  std::vector<NamedParameter> parameters = encoder_->Parameters();
  parameters.insert(parameters.end(), head_.parameters().begin(), head_.parameters().end());
  return parameters;
}

std::string Tower::settings() const {
  const weights::EncoderConfig& config = folder_.config;
  std::string text = fmt::format(
      "{}, {} layers of {}, {} heads, {}, layer norm epsilon {}, dropout {} and {}\n",
      config.model_type, config.layers, config.hidden_size, config.heads, config.activation,
      config.layer_norm_epsilon, config.hidden_dropout, config.attention_dropout);
  for (const weights::HeadModule& module : folder_.head) text += ModuleText(module);
  return text + fmt::format("similarity {}\n", similarity_);
}

weights::FolderChanges Tower::Changes() const {
  weights::FolderChanges changes;
  for (const NamedParameter& parameter : encoder_->Parameters()) {
    Append(folder_.tensor(parameter.name).view->name, parameter.value, &changes);
  }
  for (const NamedParameter& parameter : head_.parameters()) {
    Append(parameter.name, parameter.value, &changes);
  }
  // One limit is all that the format holds; the longer text decides.
  const size_t limit = std::max(max_query_tokens_, max_document_tokens_);
  if (limit != folder_.max_tokens.tokens) changes.max_tokens = limit;
  changes.prompts = PromptsToWrite();
  return changes;
}

// The folder's prompts with those that this model really uses; nothing when they are the same.
std::optional<std::map<std::string, std::string>> Tower::PromptsToWrite() const {
  if (query_prompt_ == folder_.query_prompt && document_prompt_ == folder_.document_prompt) {
    return std::nullopt;
  }
  std::map<std::string, std::string> prompts = folder_.prompts;
  prompts["query"] = query_prompt_;
  prompts["document"] = document_prompt_;
  return prompts;
}

}  // namespace tandem::model
