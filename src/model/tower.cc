#include "model/tower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "model/encoders/transformer.h"
#include "model/training/new_layers.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/tensor.h"
#include "text/load/known_files.h"
#include "weights/folders/keep_layers.h"
#include "weights/modules/prediction_head.h"
#include "weights/settings/prompt_choice.h"

namespace tandem::model {
namespace {

std::unique_ptr<Encoder> MakeEncoder(const weights::ModelFolder& folder, const TrainingPlan& plan,
                                     const LoadOptions& options) {
  auto encoder = MakeTransformer(
      folder.encoder, options.dropout,
      WithNewLayers(TensorsOf(folder, plan), folder, options.reinitialize_layers, options.seed),
      AdaptersOf(plan, options.seed));
  if (plan.pack_on_use) encoder->PackFrozenOnUse();
  return encoder;
}

void FreezeModules(const Head& head, const std::set<std::string>& modules) {
  for (const NamedParameter& parameter : head.parameters()) {
    const std::string module = parameter.name.substr(0, parameter.name.rfind('/'));
    if (modules.contains(module)) parameter.value.set_requires_grad(false);
  }
}

// The length at which texts of a kind are cut: what was `asked` for, else what tandem.json says
// (`saved`), else what the folder's other files say.
size_t LengthLimit(const std::optional<size_t>& asked, const std::optional<size_t>& saved,
                   const weights::ModelFolder& folder, const char* key) {
  const auto most = static_cast<size_t>(folder.encoder.max_positions);
  if (asked == size_t{0}) return most;
  const size_t limit = asked.value_or(saved.value_or(folder.tokenizer.max_tokens.tokens));
  if (limit <= most) return limit;
  const std::string problem = fmt::format(
      "{} is {}, but a text may have at most {} tokens (by config.json)", key, limit, most);
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
  if (const auto* norm = std::get_if<weights::LayerNorm>(&module)) {
    return fmt::format("layer norm {}\n", norm->dimension);
  }
  return "normalize\n";
}

void KeepLayers(int64_t layers, weights::ModelFolder* folder) {
  try {
    weights::KeepLayers(folder, layers);
  } catch (const UsageError& error) {
    throw TrainingProblem("model.layers", error.what());
  }
}

void AddHead(weights::ModelFolder* folder) {
  try {
    weights::AddPredictionHead(folder);
  } catch (const UsageError& error) {
    throw TrainingProblem("model.head", fmt::format("is true, but {}", error.what()));
  }
}

// The folder as `options` ask for it; lengths that its adapter says go into `file`.
weights::ModelFolder Changed(weights::ModelFolder folder, const LoadOptions& options,
                             weights::TandemFile* file) {
  if (options.is_causal) weights::SetCausal(&folder, *options.is_causal);
  if (options.layers) KeepLayers(*options.layers, &folder);
  const std::filesystem::path& adapter = options.training.adapter;
  bool has_projection = false;
  if (!adapter.empty()) {
    const weights::ModelFiles files(adapter);
    has_projection = weights::TakeModules(files, &folder);
    weights::TakeSettings(files, &folder, file);
  }
  if (options.head) AddHead(&folder);
  weights::ChangePooling(&folder, options.pooling);
  if (!options.projection) return folder;
  if (!has_projection) {
    weights::AddProjection(&folder, *options.projection);
  } else if (folder.embedding_width != *options.projection) {
    throw TrainingProblem(
        "model.projection",
        fmt::format("is {}, but the adapter in {} has a projection of its own to "
                    "{} numbers; leave the key out to go on from that one",
                    *options.projection, adapter.native(), folder.embedding_width));
  }
  return folder;
}

// A prompt that was given or chosen, else the folder's `own`.
std::string PromptOf(const std::optional<std::string>& given,
                     const std::optional<std::string>& chosen, const std::string& own,
                     const weights::ModelFolder& folder) {
  if (chosen) return weights::ChoosePrompt(folder, *chosen);
  return given.value_or(own);
}

// Says how many numbers embeddings have.
int64_t WidthOf(const weights::ModelFolder& folder, const std::optional<int64_t>& asked) {
  const int64_t all = folder.embedding_width;
  if (!asked) return std::min(all, folder.truncate_dim.value_or(all));
  if (*asked > all) {
    throw UsageError(fmt::format("{}: its embeddings have {} numbers; they cannot be cut to {}",
                                 folder.path.native(), all, *asked));
  }
  return *asked == 0 ? all : *asked;
}

std::span<const float> FloatsOf(const tensor::Tensor& value) {
  return {value.data_ptr<float>(), static_cast<size_t>(value.numel())};
}

// Points into a value on the CPU, and holds one that is elsewhere.
void Append(std::string name, const tensor::Tensor& value, weights::FolderChanges* changes) {
  const weights::Shape shape(value.sizes().begin(), value.sizes().end());
  if (value.is_cpu()) {
    changes->tensors.push_back(weights::Float32Tensor(std::move(name), shape, FloatsOf(value)));
    return;
  }
  const auto make = [value] {
    const tensor::Tensor copy = tensor::OnCpu(value.detach());
    const auto bytes = std::as_bytes(FloatsOf(copy));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  changes->tensors.push_back({.name = std::move(name),
                              .dtype = weights::Dtype::kF32,
                              .shape = shape,
                              .bytes = {},
                              .make = make});
}

}  // namespace

Tower::Tower(weights::ModelFolder folder, const LoadOptions& options, weights::TandemFile file)
    : folder_(Changed(std::move(folder), options, &file)),
      plan_(PlanTraining(folder_, options.training)),
      tokenizer_(text::LoadTokenizer(folder_.tokenizer.folder,
                                     {.lower_case = folder_.tokenizer.lower_case,
                                      .rows = static_cast<size_t>(folder_.encoder.vocabulary_size)},
                                     folder_.tokenizer.KnownFiles())),
      encoder_(MakeEncoder(folder_, plan_, options)),
      head_(folder_.head, options.seed),
      max_query_tokens_(LengthLimit(options.max_query_tokens, file.max_query_tokens, folder_,
                                    "max_query_tokens")),
      max_document_tokens_(LengthLimit(options.max_document_tokens, file.max_document_tokens,
                                       folder_, "max_document_tokens")),
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
  FreezeModules(head_, plan_.frozen_modules);
  folder_.weights->ReleasePages();
}

void Tower::To(tensor::Device device) {
  encoder_->To(device);
  MoveParameters(head_.parameters(), device);
  device_ = device;
}

tensor::Tensor Tower::Encode(const tensor::PackedTokens& pack,
                             const ForwardOptions& options) const {
  const tensor::PackedTokens tokens = pack.To(device_);
  if (tokens.longest > encoder_->max_positions()) {
    throw UsageError(fmt::format("a text of {} tokens is longer than the encoder's {} positions",
                                 tokens.longest, encoder_->max_positions()));
  }
  const tensor::Tensor whole = head_.Forward(encoder_->Forward(tokens, options), tokens);
  return Cut(whole, width_);
}

tensor::Tensor Tower::Cut(const tensor::Tensor& rows, int64_t width) const {
  if (width == rows.size(1)) return rows;
  if (width < 1 || width > rows.size(1)) {
    throw UsageError(fmt::format("{}: its embeddings have {} numbers; they cannot be cut to {}",
                                 folder_.path.native(), rows.size(1), width));
  }
  const tensor::Tensor cut = tensor::Columns(rows, 0, width);
  return normalizes_again_ ? tensor::NormalizeRows(cut) : cut;
}

std::vector<NamedParameter> Tower::Parameters() const {
  std::vector<NamedParameter> parameters = encoder_->Parameters();
  parameters.insert(parameters.end(), head_.parameters().begin(), head_.parameters().end());
  return parameters;
}

std::string Tower::adapter_settings() const {
  if (!adapted()) return "";
  return fmt::format("adapters of rank {}, scale {}, dropout {}\n", plan_.adapter.rank,
                     plan_.adapter.scale(), plan_.adapter.dropout);
}

std::string Tower::settings() const {
  std::string text = weights::SpecText(folder_.encoder);
  for (const weights::HeadModule& module : folder_.head) text += ModuleText(module);
  if (width_ != folder_.embedding_width) text += fmt::format("cut to {}\n", width_);
  return text + adapter_settings() +
         fmt::format("similarity {}\n", weights::SimilarityName(folder_.similarity));
}

weights::FolderChanges Tower::WithSettings(weights::FolderChanges changes) const {
  changes.max_tokens = max_sequence_;
  changes.max_query_tokens = max_query_tokens_;
  changes.max_document_tokens = max_document_tokens_;
  changes.query_prompt = query_prompt_;
  changes.document_prompt = document_prompt_;
  return changes;
}

weights::FolderChanges Tower::Changes(weights::FolderChanges changes) const {
  changes = WithSettings(std::move(changes));
  std::set<const void*> adapters;  // their tensors' bodies
  for (const AdaptedLinear& adapted : encoder_->Adapters()) {
    adapters.insert({&adapted.down.body(), &adapted.up.body()});
    changes.tensors.push_back(Merged(*folder_.tensor(adapted.linear + ".weight").view, adapted));
  }
  for (const NamedParameter& parameter : encoder_->Parameters()) {
    if (!parameter.trained() || adapters.contains(&parameter.value.body())) {
      continue;
    }
    Append(folder_.tensor(parameter.name).view->name, parameter.value, &changes);
  }
  for (const NamedParameter& parameter : head_.parameters()) {
    Append(parameter.name, parameter.value, &changes);
  }
  return changes;
}

weights::TensorToWrite Tower::Merged(const weights::TensorView& view,
                                     const AdaptedLinear& adapted) const {
  const auto make = [&view, down = adapted.down.detach(), up = adapted.up.detach(),
                     scale = plan_.adapter.scale()] {
    const tensor::Tensor a = tensor::OnCpu(down), b = tensor::OnCpu(up);
    return weights::MergedWeight{.weight = view,
                                 .down = a.data_ptr<float>(),
                                 .up = b.data_ptr<float>(),
                                 .rank = a.size(0),
                                 .scale = scale}
        .Bytes();
  };
  return {.name = view.name,
          .dtype = weights::Dtype::kF32,
          .shape = view.shape,
          .bytes = {},
          .make = make};
}

void Tower::SaveAdapter(const std::filesystem::path& path, const std::string& base,
                        weights::FolderChanges changes) const {
  weights::FolderChanges tensors;
  std::vector<std::string> linears, others;
  for (const AdaptedLinear& adapted : encoder_->Adapters()) {
    linears.push_back(adapted.linear);
    Append(weights::DownName(adapted.linear), adapted.down, &tensors);
    Append(weights::UpName(adapted.linear), adapted.up, &tensors);
  }
  for (const weights::TensorView* view : folder_.carried_tensors) {
    constexpr std::string_view kWeight = ".weight";
    if (!view->name.ends_with(kWeight)) continue;
    others.push_back(view->name.substr(0, view->name.size() - kWeight.size()));
  }
  weights::AdapterSettings settings = plan_.adapter;
  settings.base = base;
  settings.targets = weights::TargetModules(folder_.encoder, linears, others);
  changes = WithSettings(std::move(changes));
  for (const NamedParameter& parameter : head_.parameters()) {
    Append(parameter.name, parameter.value, &changes);
  }
  weights::WriteAdapterFolder(path, settings, tensors.tensors, [&](const auto& folder) {
    weights::WriteModulesAndSettings(folder_, changes, folder);
  });
  if (folder_.kept_layers) {
    Warn(
        fmt::format("{}: an adapter cannot say that its base was cut to {} layers (model.layers); "
                    "model/ holds the whole model, which does",
                    path.native(), *folder_.kept_layers));
  }
  if (!folder_.is_causal) return;
  Warn(
      fmt::format("{}: an adapter cannot say that its base became {} (model.is_causal); {} "
                  "holds the whole model, which does",
                  path.native(), *folder_.is_causal ? "causal" : "bidirectional", "model/"));
}

}  // namespace tandem::model
