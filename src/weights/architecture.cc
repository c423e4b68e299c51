#include "weights/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

std::vector<std::string_view> KnownModelTypes() {
  std::vector<std::string_view> types;
  for (const Architecture* architecture : Architectures()) {
    types.insert(types.end(), architecture->model_types.begin(), architecture->model_types.end());
  }
  return types;
}

const TensorView* FindSpelled(const WeightFiles& weights, const Architecture& architecture,
                              const std::string& name) {
  if (const TensorView* view = weights.Find(name)) return view;
  for (const std::string_view prefix : architecture.prefixes) {
    if (const TensorView* view = weights.Find(fmt::format("{}{}", prefix, name))) return view;
  }
  return nullptr;
}

// `name`, or it with the older spelling of a LayerNorm's weights.
const TensorView* FindNamed(const WeightFiles& weights, const Architecture& architecture,
                            const std::string& name) {
  if (const TensorView* view = FindSpelled(weights, architecture, name)) return view;
  for (const auto& [ending, older] : {std::pair("LayerNorm.weight", "LayerNorm.gamma"),
                                      std::pair("LayerNorm.bias", "LayerNorm.beta")}) {
    if (!name.ends_with(ending)) continue;
    const size_t stem = name.size() - std::string_view(ending).size();
    return FindSpelled(weights, architecture, name.substr(0, stem) + older);
  }
  return nullptr;
}

const TensorView* FindTensor(const WeightFiles& weights, const Architecture& architecture,
                             const EncoderTensor& tensor) {
  if (const TensorView* view = FindNamed(weights, architecture, tensor.name)) return view;
  for (const std::string& alias : tensor.aliases) {
    if (const TensorView* view = FindNamed(weights, architecture, alias)) return view;
  }
  return nullptr;
}

constexpr std::string_view kIsCausal = "is_causal";

// "auto_map" names classes of Python files in the folder; their first name, or "".
std::string CodeOf(const Settings& config) {
  const Json* map = config.Find("auto_map");
  if (map == nullptr || !map->is_object() || map->empty()) return "";
  const Json& model = map->contains("AutoModel") ? (*map)["AutoModel"] : map->items().front().value;
  return model.is_string() ? model.get<std::string>() : "";
}

// Says what a user can do with a model of this unknown type.
std::string HintFor(const Settings& config, const std::string& type) {
  if (type == "gemma3") {
    return "; gemma3 reads images and text: of it only the text model is supported, whose "
           "config.json has model_type gemma3_text (in Python: save model.language_model)";
  }
  const std::string code = CodeOf(config);
  if (code.empty()) return "";
  return fmt::format(
      "; its code is in the folder (auto_map: {}) and is not run. Needed is a model that "
      "transformers computes without trust_remote_code",
      code);
}

[[noreturn]] void ThrowUnknown(const Settings& config, const std::string& type) {
  const std::vector<std::string_view> known = KnownModelTypes();
  std::string hint = HintFor(config, type);
  if (hint.empty()) hint = DidYouMean(type, known);
  throw ModelError(config.file(), "",
                   fmt::format("the architecture '{}' is not supported; supported: {}{}", type,
                               fmt::join(known, ", "), hint));
}

void CheckNotQuantised(const Settings& config) {
  const Json* found = config.Find("quantization_config");
  if (found == nullptr) return;
  std::string method = "unknown";
  if (found->is_object()) {
    const Settings quantised(config.file(), *found);
    method = quantised.String("quant_method").value_or(method);
  }
  throw ModelError(
      config.file(), "",
      fmt::format(
          "the weights are quantised (quantization_config: {}), and only F32, F16 and BF16 "
          "are supported. Take the model that they were quantised from, or load this one in "
          "Python, model.dequantize(), and save it",
          method));
}

void WarnOfCode(const Settings& config, const Architecture& architecture) {
  const std::string code = CodeOf(config);
  if (code.empty()) return;
  Warn(fmt::format(
      "{}: names code of the folder (auto_map: {}), which is not run; the model is computed as {}, "
      "as transformers does without trust_remote_code{}",
      config.file(), code, architecture.name,
      architecture.decoder && !config.Has(kIsCausal)
          ? ". If that code makes it bidirectional, say model.is_causal = false"
          : ""));
}

// Checks that the spec became what `is_causal` asks for.
void CheckCausal(const Settings& config, const EncoderSpec& spec, bool is_causal) {
  for (const LayerSpec& layer : spec.layers) {
    if (layer.attention.causal == is_causal) continue;
    throw UsageError(fmt::format("{}: is_causal cannot be {}: the encoder ({}) is {}",
                                 config.file(), is_causal, spec.model_type,
                                 is_causal ? "bidirectional" : "causal"));
  }
}

// `name` without the first prefix of the architecture that it has.
std::string_view Unprefixed(std::string_view name, const Architecture& architecture) {
  for (const std::string_view prefix : architecture.prefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

std::optional<int64_t> LayerIn(std::string_view name, const Architecture& architecture,
                               const EncoderSpec& spec) {
  name = Unprefixed(name, architecture);
  if (!name.starts_with(spec.layer_prefix)) return std::nullopt;
  name.remove_prefix(spec.layer_prefix.size());
  uint32_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc()) return std::nullopt;
  return index;
}

// Throws where a file has a layer that config.json does not count.
void CheckNoFurtherLayers(const WeightFiles& weights, const Architecture& architecture,
                          const EncoderSpec& spec) {
  for (const TensorView* view : weights.tensors()) {
    const std::optional<int64_t> index = LayerIn(view->name, architecture, spec);
    if (!index || std::cmp_less(*index, spec.layers.size())) continue;
    throw ModelError(weights.FileOf(view->name).native(), view->name,
                     fmt::format("belongs to layer {} (from 0), but config.json says {} is {}; one "
                                 "of the two is of another model",
                                 *index, spec.layers_key, spec.layers.size()));
  }
}

}  // namespace

const Architecture* FindArchitecture(std::string_view model_type) {
  for (const Architecture* architecture : Architectures()) {
    const auto& types = architecture->model_types;
    if (std::find(types.begin(), types.end(), model_type) != types.end()) return architecture;
  }
  return nullptr;
}

EncoderSpec ReadEncoderSpec(const std::filesystem::path& path,
                            const std::optional<bool>& is_causal) {
  return ReadEncoderSpec(Settings::Read(path), is_causal);
}

EncoderSpec ReadEncoderSpec(const Settings& given, const std::optional<bool>& is_causal) {
  Settings config = given;
  const std::string type = config.RequiredString("model_type");
  const Architecture* architecture = FindArchitecture(type);
  if (architecture == nullptr) ThrowUnknown(config, type);
  CheckNotQuantised(config);
  WarnOfCode(config, *architecture);
  if (is_causal && architecture->decoder) config.Set(kIsCausal, *is_causal);
  EncoderSpec spec = architecture->read(config);
  spec.architecture = architecture->name;
  spec.model_type = type;
  if (is_causal) CheckCausal(config, spec, *is_causal);
  return spec;
}

void BindEncoderTensors(const WeightFiles& weights, EncoderSpec* spec) {
  const Architecture& architecture = *FindArchitecture(spec->model_type);
  CheckNoFurtherLayers(weights, architecture, *spec);
  BindTensors(weights, spec->model_type, &spec->tensors);
}

std::optional<int64_t> LayerOf(std::string_view name, const EncoderSpec& spec) {
  return LayerIn(name, *FindArchitecture(spec.model_type), spec);
}

void BindTensors(const WeightFiles& weights, std::string_view model_type,
                 std::vector<EncoderTensor>* tensors) {
  const Architecture& architecture = *FindArchitecture(model_type);
  for (EncoderTensor& tensor : *tensors) {
    tensor.view = FindTensor(weights, architecture, tensor);
    if (tensor.view == nullptr) {
      throw ModelError(
          weights.folder().native(), tensor.name,
          fmt::format("the weights lack it; config.json asks for {}", ShapeText(tensor.shape)));
    }
    const std::string& file = weights.FileOf(tensor.view->name).native();
    if (tensor.view->shape != tensor.shape) {
      throw ModelError(file, tensor.view->name,
                       fmt::format("has shape {}; {} expected from config.json",
                                   ShapeText(tensor.view->shape), ShapeText(tensor.shape)));
    }
    if (!IsComputable(tensor.view->dtype)) {
      throw ModelError(
          file, tensor.view->name,
          fmt::format("has type {}; F32, F16 or BF16 expected", DtypeName(tensor.view->dtype)));
    }
  }
}

}  // namespace tandem::weights
