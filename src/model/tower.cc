#include "model/tower.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "model/transformer.h"

namespace tandem::model {
namespace {

std::unique_ptr<Encoder> MakeEncoder(const weights::ModelFolder& folder,
                                     const LoadOptions& options) {
  return MakeTransformer(folder.encoder, options.dropout, [&](std::string_view name) {
    return ParameterFrom(*folder.tensor(name).view);
  });
}

// The length at which texts of a kind are cut: what was `asked` for, else what tandem.json says
// (`saved`), else what the folder's other files say.
size_t LengthLimit(const std::optional<size_t>& asked, const std::optional<size_t>& saved,
                   const weights::ModelFolder& folder) {
  const auto most = static_cast<size_t>(folder.encoder.max_positions);
  if (asked == size_t{0}) return most;
  const size_t limit = asked.value_or(saved.value_or(folder.tokenizer.max_tokens.tokens));
  if (limit <= most) return limit;
  const std::string problem =
      fmt::format("a text may have at most {} tokens (its position table), not {}", most, limit);
  if (asked) throw UsageError(fmt::format("{}: {}", folder.path.native(), problem));
  throw ModelError((folder.path / weights::kTandemFile).native(), "", problem);
}

// sentence-transformers knows one length for texts of both kinds. Where a length was asked for, it
// becomes the longer of the two; a query length that nobody asked for (the base's, usually far more
// than queries have) does not count.
std::optional<size_t> SequenceLimit(const LoadOptions& options, size_t query, size_t document) {
  if (!options.max_query_tokens && !options.max_document_tokens) return std::nullopt;
  return options.max_query_tokens ? std::max(query, document) : document;
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

// The folder as `options` ask for it.
weights::ModelFolder Changed(weights::ModelFolder folder, const LoadOptions& options) {
  if (options.is_causal) weights::SetCausal(&folder, *options.is_causal);
  if (options.projection) weights::AddProjection(&folder, *options.projection);
  return folder;
}

void Append(std::string name, const at::Tensor& value, weights::FolderChanges* changes) {
  const auto sizes = value.sizes();
  changes->tensors.push_back(
      weights::Float32Tensor(std::move(name), weights::Shape(sizes.begin(), sizes.end()),
                             {value.data_ptr<float>(), static_cast<size_t>(value.numel())}));
}

}  // namespace

Tower::Tower(weights::ModelFolder folder, const LoadOptions& options,
             const weights::TandemFile& file)
    : folder_(Changed(std::move(folder), options)),
      tokenizer_(text::LoadTokenizer(folder_.tokenizer.folder,
                                     {.lower_case = folder_.tokenizer.lower_case})),
      encoder_(MakeEncoder(folder_, options)),
      head_(folder_.head, options.seed),
      max_query_tokens_(LengthLimit(options.max_query_tokens, file.max_query_tokens, folder_)),
      max_document_tokens_(
          LengthLimit(options.max_document_tokens, file.max_document_tokens, folder_)),
      max_sequence_(SequenceLimit(options, max_query_tokens_, max_document_tokens_)),
      query_prompt_(options.query_prompt.value_or(folder_.query_prompt())),
      document_prompt_(options.document_prompt.value_or(folder_.document_prompt())) {
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
  std::string text = weights::SpecText(folder_.encoder);
  for (const weights::HeadModule& module : folder_.head) text += ModuleText(module);
  return text + fmt::format("similarity {}\n", weights::SimilarityName(folder_.similarity));
}

weights::FolderChanges Tower::Changes(std::string_view similarity) const {
  weights::FolderChanges changes{.max_tokens = max_sequence_,
                                 .max_query_tokens = max_query_tokens_,
                                 .max_document_tokens = max_document_tokens_,
                                 .query_prompt = query_prompt_,
                                 .document_prompt = document_prompt_,
                                 .similarity = weights::SimilarityFromName(similarity)};
  for (const NamedParameter& parameter : encoder_->Parameters()) {
    Append(folder_.tensor(parameter.name).view->name, parameter.value, &changes);
  }
  for (const NamedParameter& parameter : head_.parameters()) {
    Append(parameter.name, parameter.value, &changes);
  }
  return changes;
}

}  // namespace tandem::model
