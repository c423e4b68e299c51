#include "weights/folders/cross_encoder_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "weights/architecture.h"
#include "weights/folders/folder_check.h"
#include "weights/modules/modules.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr std::string_view kClassifier = "ForSequenceClassification";

// Throws for modules after the Transformer: they would change its scores.
void RefuseFurtherModules(const ModelFiles& files) {
  if (!files.Has(kModulesFile)) return;
  const std::vector<ListedModule>& modules = files.Modules();
  if (modules.size() == 1) return;
  throw ModelError(files.PathOf(kModulesFile).native(), "",
                   fmt::format("lists {} after the Transformer of a cross-encoder; supported: none",
                               modules[1].type));
}

// The first of config.json's "architectures"; empty: none.
std::string ClassOf(const Settings& config) {
  const Json* names = config.Find("architectures");
  if (names == nullptr || !names->is_array() || names->empty() || !names->front().is_string()) {
    return "";
  }
  return names->front().get<std::string>();
}

const ClassificationHead& HeadOf(const Settings& config) {
  const std::string name = ClassOf(config);
  if (const ClassificationHead* head = FindClassificationHead(name)) return *head;
  std::vector<std::string_view> known;
  for (const ClassificationHead* head : ClassificationHeads()) {
    known.insert(known.end(), head->class_names.begin(), head->class_names.end());
  }
  throw ModelError(config.file(), "",
                   fmt::format("'architectures' is {}, whose head is not supported; supported: {}",
                               name.empty() ? "missing" : name, fmt::join(known, ", ")));
}

// "torch.nn.modules.activation.Sigmoid" is "Sigmoid". An activation that is not torch's own is not
// taken, as in sentence-transformers, and the default stands in for it.
std::optional<std::string> ActivationNamed(const std::string& path, const std::string& file) {
  if (path.starts_with("torch.")) return path.substr(path.rfind('.') + 1);
  Warn(
      fmt::format("{}: the activation function {} is code that is not run here; the default is "
                  "taken, as in sentence-transformers",
                  file, path));
  return std::nullopt;
}

// Looks in the order in which sentence-transformers does.
std::string ReadActivation(const Settings& settings, const Settings& config, size_t labels) {
  if (const auto path = settings.String("activation_fn")) {
    if (const auto name = ActivationNamed(*path, settings.file())) return *name;
  }
  std::optional<std::string> path;
  const Json* own = config.Find("sentence_transformers");
  if (own != nullptr && own->is_object() && own->contains("activation_fn")) {
    path = Settings(config.file(), *own).String("activation_fn");
  } else {
    path = config.String("sbert_ce_default_activation_function");
  }
  if (path) {
    if (const auto name = ActivationNamed(*path, config.file())) return *name;
  }
  return labels == 1 ? "Sigmoid" : "Identity";
}

std::string ReadPrompt(const Settings& settings) {
  const auto name = settings.String("default_prompt_name");
  const Json* prompts = settings.Find("prompts");
  if (!name || prompts == nullptr || !prompts->is_object() || !prompts->contains(*name)) return "";
  const Json& prompt = (*prompts)[*name];
  return prompt.is_string() ? prompt.get<std::string>() : "";
}

// Says whether the encoder has rows for two types, and its tokenizer makes them.
bool HasTokenTypes(const EncoderSpec& encoder, const Settings& tokenizer) {
  const auto table = std::find_if(
      encoder.tensors.begin(), encoder.tensors.end(),
      [&](const EncoderTensor& tensor) { return tensor.name == encoder.embedding.type; });
  if (table == encoder.tensors.end() || table->shape[0] < 2) return false;
  const Json* inputs = tokenizer.Find("model_input_names");
  if (inputs == nullptr || !inputs->is_array()) return true;
  return std::find(inputs->begin(), inputs->end(), "token_type_ids") != inputs->end();
}

}  // namespace

int64_t CrossEncoderFolder::parameter_count() const {
  size_t count = 0;
  for (const auto* tensors : {&encoder.tensors, &head.tensors}) {
    for (const EncoderTensor& tensor : *tensors) count += tensor.view->elements();
  }
  return static_cast<int64_t>(count);
}

bool IsCrossEncoder(const ModelFiles& files) {
  if (files.Has(kModelSettings)) {
    const auto type = files.Read(kModelSettings).String("model_type");
    if (type) return *type == "CrossEncoder";
  }
  if (files.Has(kModulesFile) || !files.Has("config.json")) return false;
  return ClassOf(files.Read("config.json")).ends_with(kClassifier);
}

void RefuseCrossEncoder(const ModelFiles& files) {
  if (!IsCrossEncoder(files)) return;
  const std::filesystem::path& path = files.path();
  const std::string name = ClassOf(files.Below(EncoderFolderOf(files)).ReadIfThere("config.json"));
  if (FindClassificationHead(name) == nullptr) {
    throw ModelError(path.native(), "",
                     fmt::format("is a classifier ({0}) and no encoder; transformers takes the "
                                 "encoder out of it: AutoModel.from_pretrained(\"{1}\")"
                                 ".save_pretrained(FOLDER)",
                                 name, path.native()));
  }
  throw ModelError(
      path.native(), "",
      fmt::format(
          "is a cross-encoder ({}): it scores pairs of texts and makes no embeddings. Score "
          "the pairs of training data with it (tandem score --model {} --pairs DATA --as "
          "teacher --output FILE), and give an encoder here",
          name, path.native()));
}

CrossEncoderFolder ReadCrossEncoderFolder(const ModelFiles& files) {
  CheckIsFolder(files.path());
  RefuseFurtherModules(files);
  const ModelFiles of_encoder = files.Below(EncoderFolderOf(files));
  CrossEncoderFolder folder{.path = files.path(), .encoder_path = of_encoder.path()};
  const Settings& config = of_encoder.Read("config.json");
  const Settings& settings = files.ReadIfThere(kModelSettings);
  folder.encoder = ReadEncoderSpec(config);
  const ClassificationHead& head = HeadOf(config);
  folder.head = head.read(config, folder.encoder);
  folder.head.class_name = ClassOf(config);
  folder.tokenizer = ReadTokenizerSettings(files);
  folder.max_tokens = std::min(folder.tokenizer.max_tokens.tokens,
                               static_cast<size_t>(folder.encoder.max_positions));
  folder.token_types =
      HasTokenTypes(folder.encoder, folder.tokenizer.files.ReadIfThere("tokenizer_config.json"));
  folder.prompt = ReadPrompt(settings);
  folder.activation = ReadActivation(settings, config, folder.head.labels.size());
  folder.weights = std::make_shared<const WeightFiles>(folder.encoder_path);
  BindEncoderTensors(*folder.weights, &folder.encoder);
  BindTensors(*folder.weights, folder.encoder.model_type, &folder.head.tensors);
  return folder;
}

}  // namespace tandem::weights
