#include "weights/folders/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "weights/architecture.h"
#include "weights/folders/adapter_config.h"
#include "weights/folders/cross_encoder_folder.h"
#include "weights/folders/folder_check.h"
#include "weights/modules/modules.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

// Says where the model is that the user may have meant: the run folder of `tandem train` holds one,
// beside the folder `checkpoints`.
std::string RunHint(const std::filesystem::path& path) {
  const bool is_run = std::filesystem::exists(path / "recipe.resolved.toml");
  const bool is_checkpoint = std::filesystem::exists(path / "state.json") &&
                             std::filesystem::exists(path / "weights.safetensors");
  if (!is_run && !is_checkpoint) return "";
  // parent_path() of "run/" is "run".
  const std::filesystem::path folder = (path / "").parent_path();
  const std::filesystem::path run = is_run ? folder : folder.parent_path().parent_path();
  const char* what = is_run ? "a training run" : "a checkpoint of a training run";
  const std::filesystem::path model = run / "model";
  return std::filesystem::is_directory(model)
             ? fmt::format("; it is {}, whose model is {}", what, model.native())
             : fmt::format(
                   "; it is {} that has not finished, so that it has no model yet: finish it with "
                   "`tandem train RECIPE --resume`, or stop it by Ctrl-C, which saves the best so "
                   "far",
                   what);
}

// ModelFolder::unused_document_prompt, from config_sentence_transformers.json.
std::string UnusedDocumentPrompt(const Settings& settings, const ModelFolder& folder) {
  const Json* prompts = settings.Find("prompts");
  if (prompts == nullptr || prompts->contains("document")) return "";
  for (const char* name : {"passage", "corpus"}) {
    const auto found = folder.prompts.find(name);
    if (found != folder.prompts.end() && !found->second.empty()) return name;
  }
  return "";
}

void ReadPrompts(const Settings& settings, ModelFolder* folder) {
  folder->prompts = {{"query", ""}, {"document", ""}};
  if (const Json* prompts = settings.Find("prompts")) {
    if (!prompts->is_object()) settings.Fail("prompts", "an object of names and texts");
    for (const auto& [name, text] : prompts->items()) {
      if (!text.is_string() && !text.is_null()) settings.Fail("prompts", "texts as values");
      folder->prompts[name] = text.is_null() ? "" : text.get<std::string>();
    }
  }
  folder->default_prompt_name = settings.String("default_prompt_name").value_or("");
  if (!folder->default_prompt_name.empty() &&
      !folder->prompts.contains(folder->default_prompt_name)) {
    settings.Fail("default_prompt_name", "the name of one of the prompts");
  }
  folder->unused_document_prompt = UnusedDocumentPrompt(settings, *folder);
}

// The whole model's settings, as the folder `from` says them.
void ReadModelSettings(const ModelFiles& from, ModelFolder* folder) {
  const Settings& settings = from.ReadIfThere(kModelSettings);
  const std::string type = settings.String("model_type").value_or("SentenceTransformer");
  if (type == "CrossEncoder") {  // its prompts are of pairs
    folder->prompts = {{"query", ""}, {"document", ""}};
    return;
  }
  if (type != "SentenceTransformer") {
    settings.Fail("model_type", "\"SentenceTransformer\" (the only supported one)");
  }
  ReadPrompts(settings, folder);
  const auto similarity =
      SimilarityFromName(settings.String("similarity_fn_name").value_or("cosine"));
  if (!similarity) {
    settings.Fail("similarity_fn_name", "\"cosine\" or \"dot\" (the supported ones)");
  }
  folder->similarity = *similarity;
  folder->truncate_dim = settings.Integer("truncate_dim", 1, int64_t{1} << 24);
}

// The file and the place in it where a folder's modules are listed.
struct ModuleListing {
  std::vector<ListedModule> modules;  // empty: a plain Hugging Face folder
  std::string file;
};

// Says whether config.json names a causal language model first, as "LlamaForCausalLM".
bool IsCausalLanguageModel(const Settings& config) {
  const Json* names = config.Find("architectures");
  return names != nullptr && names->is_array() && !names->empty() && names->front().is_string() &&
         names->front().text().ends_with("ForCausalLM");
}

// Returns the pooling of a folder without modules.json.
PoolingMode PlainPooling(const ModelFolder& folder, const std::optional<bool>& is_causal) {
  const ModelFiles files = folder.encoder_files();
  const Settings& config = files.Read("config.json");
  const bool causal = is_causal.value_or(config.Boolean("is_causal").value_or(true));
  return causal && IsCausalLanguageModel(config) ? PoolingMode::kLastToken : PoolingMode::kMean;
}

// "mean pooling", "pooling by the last token".
std::string PlainPoolingText(PoolingMode mode) {
  return mode == PoolingMode::kMean ? "mean pooling"
                                    : "pooling by the last token (lasttoken), as of a causal "
                                      "language model";
}

// Says whether transformers finds a template there that turns conversations into text.
bool HasChatTemplate(const ModelFiles& files) {
  return files.Has("chat_template.jinja") || files.Has("chat_template.json") ||
         files.ReadIfThere("tokenizer_config.json").Has("chat_template");
}

void ReadHead(const ModelFiles& files, const ModuleListing& source, ModelFolder* folder) {
  if (folder->has_modules) {
    ModuleList modules =
        ReadModules(files, source.modules, source.file, folder->encoder.hidden_size);
    folder->head = std::move(modules.head);
    folder->embedding_width = modules.embedding_width;
    return;
  }
  const PoolingMode mode = PlainPooling(*folder, {});
  Note(fmt::format("{}: no modules.json; read as encoder with {}", folder->path.native(),
                   PlainPoolingText(mode)));
  if (HasChatTemplate(folder->encoder_files())) {
    Warn(
        fmt::format("{}: texts are encoded as they are; sentence-transformers 6.2 passes those of "
                    "a folder without modules.json through its chat template",
                    folder->path.native()));
  }
  folder->head = {Pooling{.modes = {mode}}};
  folder->embedding_width = folder->encoder.hidden_size;
}

void ReadTensors(ModelFolder* folder) {
  folder->weights = std::make_shared<const WeightFiles>(folder->encoder_path);
  BindEncoderTensors(*folder->weights, &folder->encoder);
  std::unordered_set<const TensorView*> used;
  for (const EncoderTensor& tensor : folder->encoder.tensors) used.insert(tensor.view);
  for (const TensorView* tensor : folder->weights->tensors()) {
    if (!used.contains(tensor)) folder->carried_tensors.push_back(tensor);
  }
}

ModelFolder ReadFolder(const ModelFiles& files, const ModelFiles& of_encoder,
                       const ModuleListing& source, bool is_route) {
  ModelFolder folder;
  folder.path = files.path();
  folder.has_modules = !source.modules.empty();
  folder.encoder_path = of_encoder.path();
  folder.files = files;
  folder.encoder = ReadEncoderSpec(of_encoder.Read("config.json"));
  ReadHead(files, source, &folder);
  folder.tokenizer = is_route ? ReadTokenizerOfModule(of_encoder) : ReadTokenizerSettings(files);
  ReadModelSettings(files, &folder);
  ReadTensors(&folder);
  return folder;
}

}  // namespace

std::string_view SimilarityName(Similarity similarity) {
  return similarity == Similarity::kDot ? "dot" : "cosine";
}

std::optional<Similarity> SimilarityFromName(std::string_view name) {
  for (const Similarity similarity : {Similarity::kCosine, Similarity::kDot}) {
    if (name == SimilarityName(similarity)) return similarity;
  }
  return std::nullopt;
}

const EncoderTensor& ModelFolder::tensor(std::string_view name) const {
  const auto found =
      std::find_if(encoder.tensors.begin(), encoder.tensors.end(),
                   [&](const EncoderTensor& candidate) { return candidate.name == name; });
  if (found == encoder.tensors.end()) {
    throw std::out_of_range(fmt::format("no encoder of this configuration has a tensor {}", name));
  }
  return *found;
}

int64_t ModelFolder::parameter_count() const {
  size_t count = 0;
  for (const EncoderTensor& encoder_tensor : encoder.tensors) {
    count += encoder_tensor.view->elements();
  }
  for (const HeadModule& module : head) {
    for (const ModuleParameter& parameter : ParametersOf(module)) {
      size_t elements = 1;
      for (const int64_t size : parameter.shape) elements *= static_cast<size_t>(size);
      count += elements;
    }
  }
  return static_cast<int64_t>(count);
}

void SetCausal(ModelFolder* folder, bool is_causal) {
  EncoderSpec spec = ReadEncoderSpec(folder->encoder_files().Read("config.json"), is_causal);
  if (SpecText(spec) == SpecText(folder->encoder)) return;
  BindEncoderTensors(*folder->weights, &spec);
  folder->encoder = std::move(spec);
  folder->is_causal = is_causal;
  if (folder->has_modules) return;
  auto& pooling = std::get<Pooling>(folder->head.front());
  const PoolingMode mode = PlainPooling(*folder, is_causal);
  if (pooling.modes.front() == mode) return;
  pooling.modes = {mode};
  Note(fmt::format("{}: {} by is_causal, and without modules.json: {}", folder->path.native(),
                   is_causal ? "causal" : "bidirectional", PlainPoolingText(mode)));
}

void AddProjection(ModelFolder* folder, int64_t width) {
  const bool normalized = std::holds_alternative<Normalize>(folder->head.back());
  Dense projection;
  projection.folder = kProjectionFolder;
  projection.in_features = folder->embedding_width;
  projection.out_features = width;
  projection.bias = false;
  projection.activation = Activation::kIdentity;
  folder->head.insert(folder->head.end() - normalized, projection);
  folder->embedding_width = width;
}

namespace {

// The last Dense module, where it is as AddProjection makes them; null: it is another, or none.
Dense* LastProjection(ModelFolder* folder) {
  for (auto module = folder->head.rbegin(); module != folder->head.rend(); ++module) {
    if (auto* dense = std::get_if<Dense>(&*module)) {
      return !dense->bias && dense->activation == Activation::kIdentity ? dense : nullptr;
    }
  }
  return nullptr;
}

}  // namespace

bool TakeModules(const ModelFiles& from, ModelFolder* folder) {
  if (!from.Has(kModulesFile)) return false;
  const auto dense_modules = [&] {
    return std::count_if(folder->head.begin(), folder->head.end(), [](const HeadModule& module) {
      return std::holds_alternative<Dense>(module);
    });
  };
  const auto before = dense_modules();
  ModuleList modules =
      ReadModules(from, from.Modules(), from.PathOf(kModulesFile), folder->encoder.hidden_size);
  folder->head = std::move(modules.head);
  folder->embedding_width = modules.embedding_width;
  folder->has_modules = true;
  Dense* projection = LastProjection(folder);
  if (dense_modules() <= before || projection == nullptr) return false;
  projection->folder = kProjectionFolder;
  return true;
}

void TakeSettings(const ModelFiles& from, ModelFolder* folder, TandemFile* file) {
  if (from.Has(kModelSettings)) ReadModelSettings(from, folder);
  TakeLengths(from, &folder->tokenizer, file);
}

const Pooling& PoolingOf(const ModelFolder& folder) {
  return std::get<Pooling>(folder.head.front());
}

void ChangePooling(ModelFolder* folder, const PoolingChange& change) {
  auto& pooling = std::get<Pooling>(folder->head.front());
  if (change.mode) pooling.modes = {*change.mode};
  if (change.include_prompt) pooling.include_prompt = *change.include_prompt;
  int64_t width = folder->encoder.hidden_size;
  for (const HeadModule& module : folder->head) {
    const int64_t taken = WidthBefore(module, width);
    if (taken != width) {
      throw ModelError((folder->path / SourceOf(module)->folder).native(), "",
                       fmt::format("the module takes {} numbers, what the folder's own pooling "
                                   "gives; pooling by {} gives {}",
                                   taken, PoolingText(pooling), width));
    }
    width = WidthBehind(module, width);
  }
  folder->embedding_width = width;
}

void WarnOfUnusedDocumentPrompt(const ModelFolder& folder) {
  if (folder.unused_document_prompt.empty()) return;
  Warn(
      fmt::format("{}: documents get no prompt, as in sentence-transformers: its prompt \"{}\" is "
                  "not called \"document\". Rename it there, or give model.document_prompt",
                  (folder.path / kModelSettings).native(), folder.unused_document_prompt));
}

namespace {

// Throws for an adapter: without its base it is no model, and a base's weights beside it would be
// another model than what transformers loads, which takes the adapter.
void RefuseAdapter(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path / kAdapterConfig)) return;
  throw ModelError(
      path.native(), "",
      fmt::format("holds an adapter ({}), which is no whole model: `tandem merge {} --base BASE "
                  "--output OUTPUT` makes one of it; training goes on from it by model.adapter",
                  kAdapterConfig, path.native()));
}

}  // namespace

ModelFolder ReadModelFolder(const ModelFiles& files, const ReadOptions& options) {
  const std::filesystem::path& path = files.path();
  CheckIsFolder(path);
  RefuseAdapter(path);
  if (!options.of_classifier) RefuseCrossEncoder(files);
  const bool listed = files.Has(kModulesFile);
  const bool has_modules = listed && !IsCrossEncoder(files);
  const ModelFiles of_encoder = files.Below(EncoderFolderOf(files));
  if (of_encoder.path() != path) RefuseAdapter(of_encoder.path());
  if (!of_encoder.Has("config.json")) {
    throw ModelError(of_encoder.path().native(), "",
                     listed ? "is no model folder: config.json is missing"
                            : "is no model folder: neither modules.json nor config.json is there" +
                                  RunHint(path));
  }
  ModuleListing source{.modules = {}, .file = files.PathOf(kModulesFile)};
  if (has_modules) source.modules = files.Modules();
  return ReadFolder(files, of_encoder, source, /*is_route=*/false);
}

ModelFolder ReadRouteFolder(const ModelFiles& files, const std::vector<ListedModule>& modules,
                            const std::string& file) {
  const ModelFiles of_encoder = files.Below(modules.front().folder);
  if (!of_encoder.Has("config.json")) {
    throw ModelError(of_encoder.path().native(), "",
                     fmt::format("config.json is missing; {} names the folder", file));
  }
  return ReadFolder(files, of_encoder, {modules, file}, /*is_route=*/true);
}

}  // namespace tandem::weights
