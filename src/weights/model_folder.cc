#include "weights/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "weights/encoder_config.h"
#include "weights/modules.h"
#include "weights/settings_file.h"
#include "weights/token_limit.h"

namespace tandem::weights {
namespace {

// sentence-transformers' names of the Transformer module's settings, newest first.
constexpr const char* kSentenceConfigs[] = {
    "sentence_bert_config.json",       "sentence_roberta_config.json",
    "sentence_distilbert_config.json", "sentence_camembert_config.json",
    "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
};

void CheckIsFolder(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw ModelError(path.native(), "", "no such folder; a model folder was expected");
  }
  if (!std::filesystem::is_directory(path)) {
    throw ModelError(path.native(), "", "is a file; a model folder was expected");
  }
}

// Where the model is that the user may have meant: a run folder of `tandem train` holds one.
std::string RunHint(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path / "recipe.resolved.toml")) return "";
  const std::filesystem::path model = path / "model";
  return std::filesystem::is_directory(model)
             ? fmt::format("; it is a training run, whose model is {}", model.native())
             : std::string(
                   "; it is a training run that has not finished, so that it has no model "
                   "yet: finish it with `tandem train RECIPE --resume`");
}

// An empty object for a plain folder, for which sentence-transformers reads none.
Settings SentenceConfig(const ModelFolder& folder) {
  if (folder.has_modules) {
    for (const char* name : kSentenceConfigs) {
      if (std::filesystem::exists(folder.encoder_path / name)) {
        return Settings::Read(folder.encoder_path / name);
      }
    }
  }
  return Settings((folder.encoder_path / kSentenceConfigs[0]).native(), nlohmann::json::object());
}

void ReadLengthAndCase(ModelFolder* folder) {
  const Settings settings = SentenceConfig(*folder);
  if (settings.String("transformer_task").value_or("feature-extraction") != "feature-extraction") {
    settings.Fail("transformer_task", "\"feature-extraction\" (the only supported one)");
  }
  folder->max_tokens = ReadTokenLimit(folder->encoder_path, settings, folder->config.max_positions);
  folder->lower_cases = settings.Boolean("do_lower_case").value_or(false);
  if (folder->lower_cases && !TokenizerLowerCases(folder->encoder_path)) {
    Warn(
        fmt::format("{}: do_lower_case is set, but the tokenizer keeps upper case; the tokenizer "
                    "wins",
                    settings.file()));
  }
}

void ReadPrompts(const Settings& settings, ModelFolder* folder) {
  if (const nlohmann::json* prompts = settings.Find("prompts")) {
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
  const auto first_of = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names) {
      if (const auto found = folder->prompts.find(name); found != folder->prompts.end()) {
        return found->second;
      }
    }
    return "";
  };
  folder->query_prompt = first_of({"query"});
  folder->document_prompt = first_of({"document", "passage", "corpus"});
}

void ReadModelSettings(ModelFolder* folder) {
  const Settings settings =
      Settings::ReadIfThere(folder->path / "config_sentence_transformers.json");
  if (settings.String("model_type").value_or("SentenceTransformer") != "SentenceTransformer") {
    settings.Fail("model_type", "\"SentenceTransformer\" (the only supported one)");
  }
  ReadPrompts(settings, folder);
  const std::string similarity = settings.String("similarity_fn_name").value_or("cosine");
  if (similarity != "cosine" && similarity != "dot") {
    settings.Fail("similarity_fn_name", "\"cosine\" or \"dot\" (the supported ones)");
  }
  folder->similarity = similarity == "dot" ? Similarity::kDot : Similarity::kCosine;
}

void ReadHead(ModelFolder* folder) {
  if (folder->has_modules) {
    ModuleList modules = ReadModules(folder->path, folder->config.hidden_size);
    folder->head = std::move(modules.head);
    folder->embedding_width = modules.embedding_width;
    return;
  }
  Note(
      fmt::format("{}: no modules.json; read as encoder with mean pooling", folder->path.native()));
  folder->head = {Pooling{.mode = PoolingMode::kMean}};
  folder->embedding_width = folder->config.hidden_size;
}

void ReadTensors(ModelFolder* folder) {
  folder->weights = std::make_shared<const WeightFiles>(folder->encoder_path);
  folder->encoder_tensors = EncoderTensorsOf(folder->config);
  BindEncoderTensors(*folder->weights, &folder->encoder_tensors);
  std::unordered_set<const TensorView*> used;
  for (const EncoderTensor& tensor : folder->encoder_tensors) used.insert(tensor.view);
  for (const TensorView* tensor : folder->weights->tensors()) {
    if (!used.contains(tensor)) folder->carried_tensors.push_back(tensor);
  }
}

}  // namespace

std::string_view SimilarityName(Similarity similarity) {
  return similarity == Similarity::kDot ? "dot" : "cosine";
}

const EncoderTensor& ModelFolder::tensor(std::string_view name) const {
  const auto found =
      std::find_if(encoder_tensors.begin(), encoder_tensors.end(),
                   [&](const EncoderTensor& candidate) { return candidate.name == name; });
  if (found == encoder_tensors.end()) {
    throw std::out_of_range(fmt::format("no encoder of this configuration has a tensor {}", name));
  }
  return *found;
}

int64_t ModelFolder::parameter_count() const {
  size_t count = 0;
  for (const EncoderTensor& encoder_tensor : encoder_tensors) {
    count += encoder_tensor.view->elements();
  }
  for (const HeadModule& module : head) {
    if (const auto* dense = std::get_if<Dense>(&module)) {
      count += static_cast<size_t>(dense->out_features * (dense->in_features + dense->bias));
    }
  }
  return static_cast<int64_t>(count);
}

void AddProjection(ModelFolder* folder, int64_t width) {
  const bool normalized = std::holds_alternative<Normalize>(folder->head.back());
  folder->head.insert(folder->head.end() - normalized, Dense{.folder = kProjectionFolder,
                                                             .in_features = folder->embedding_width,
                                                             .out_features = width,
                                                             .bias = false,
                                                             .activation = Activation::kIdentity,
                                                             .weights = nullptr});
  folder->embedding_width = width;
}

ModelFolder ReadModelFolder(const std::filesystem::path& path) {
  CheckIsFolder(path);
  ModelFolder folder;
  folder.path = path;
  folder.has_modules = std::filesystem::exists(path / "modules.json");
  folder.encoder_path = path;
  if (folder.has_modules) {
    const std::string below = EncoderFolderOf(path);
    if (!below.empty()) folder.encoder_path /= below;
  }
  if (!std::filesystem::exists(folder.encoder_path / "config.json")) {
    throw ModelError(
        folder.encoder_path.native(), "",
        folder.has_modules
            ? "is no model folder: config.json is missing"
            : "is no model folder: neither modules.json nor config.json is there" + RunHint(path));
  }
  folder.config = ReadEncoderConfig(folder.encoder_path / "config.json");
  ReadHead(&folder);
  ReadLengthAndCase(&folder);
  ReadModelSettings(&folder);
  ReadTensors(&folder);
  return folder;
}

}  // namespace tandem::weights
