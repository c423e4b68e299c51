#include "model/tower.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "model/transformer.h"
#include "weights/prompt_choice.h"

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
    return fmt::format("pooling {}\n", weights::PoolingText(*pooling));
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
  weights::ChangePooling(&folder, options.pooling);
  if (options.projection) weights::AddProjection(&folder, *options.projection);
  return folder;
}

// A prompt that was given or chosen, else the folder's `own`.
std::string PromptOf(const std::optional<std::string>& given,
                     const std::optional<std::string>& chosen, const std::string& own,
                     const weights::ModelFolder& folder) {
  if (chosen) return weights::ChoosePrompt(folder, *chosen);
  return given.value_or(own);
}

// How many numbers embeddings have.
int64_t WidthOf(const weights::ModelFolder& folder, const std::optional<int64_t>& asked) {
  const int64_t all = folder.embedding_width;
  if (!asked) return std::min(all, folder.truncate_dim.value_or(all));
  if (*asked > all) {
    throw UsageError(fmt::format("{}: its embeddings have {} numbers; they cannot be cut to {}",
                                 folder.path.native(), all, *asked));
  }
  return *asked == 0 ? all : *asked;
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
      query_prompt_(PromptOf(options.query_prompt, options.chosen_query_prompt,
                             folder_.query_prompt(), folder_)),
      document_prompt_(PromptOf(options.document_prompt, options.chosen_document_prompt,
                                folder_.document_prompt(), folder_)),
      width_(WidthOf(folder_, options.dimensions)),
      normalizes_again_(std::holds_alternative<weights::Normalize>(folder_.head.back()) &&
                        folder_.similarity == weights::Similarity::kCosine) {
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
  const at::Tensor whole = head_.Forward(encoder_->Forward(tokens, options), tokens);
  if (width_ == whole.size(1)) return whole;
  const at::Tensor cut = whole.narrow(1, 0, width_);
  return normalizes_again_ ? tensor::NormalizeRows(cut) : cut;
}

std::vector<NamedParameter> Tower::Parameters() const {
  std::vector<NamedParameter> parameters = encoder_->Parameters();
  parameters.insert(parameters.end(), head_.parameters().begin(), head_.parameters().end());
  return parameters;
}

std::string Tower::settings() const {
  std::string text = weights::SpecText(folder_.encoder);
  for (const weights::HeadModule& module : folder_.head) text += ModuleText(module);
  if (width_ != folder_.embedding_width) text += fmt::format("cut to {}\n", width_);
  return text + fmt::format("similarity {}\n", weights::SimilarityName(folder_.similarity));
}

weights::FolderChanges Tower::Changes(weights::FolderChanges changes) const {
  changes.max_tokens = max_sequence_;
  changes.max_query_tokens = max_query_tokens_;
  changes.max_document_tokens = max_document_tokens_;
  changes.query_prompt = query_prompt_;
  changes.document_prompt = document_prompt_;
  for (const NamedParameter& parameter : encoder_->Parameters()) {
    Append(folder_.tensor(parameter.name).view->name, parameter.value, &changes);
  }
  for (const NamedParameter& parameter : head_.parameters()) {
    Append(parameter.name, parameter.value, &changes);
  }
  return changes;
}

}  // namespace tandem::model
