#include "weights/adapter_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "base/atomic_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "weights/encoder_parts.h"
#include "weights/settings_file.h"

namespace tandem::weights {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kRoot = "base_model.model.";
constexpr std::string_view kDown = ".lora_A.weight", kUp = ".lora_B.weight";
// Keys of adapter_config.json that change what an adapter computes, with what must be there.
constexpr const char* kMustBeOff[] = {"use_dora",
                                      "use_qalora",
                                      "lora_bias",
                                      "fan_in_fan_out",
                                      "trainable_token_indices",
                                      "alpha_pattern",
                                      "rank_pattern",
                                      "modules_to_save",
                                      "layer_replication",
                                      "target_parameters",
                                      "megatron_config",
                                      "use_bdlora",
                                      "arrow_config",
                                      "exclude_modules"};

// Nothing that would be used: absent, false, or empty.
bool IsOff(const nlohmann::json* value) {
  return value == nullptr || value->is_null() || *value == false ||
         ((value->is_object() || value->is_array()) && value->empty());
}

void CheckSupported(const Settings& config) {
  if (config.RequiredString("peft_type") != "LORA") {
    config.Fail("peft_type", "\"LORA\" (the only kind of adapter that is supported)");
  }
  for (const char* key : kMustBeOff) {
    if (!IsOff(config.Find(key))) config.Fail(key, "nothing (it is not supported)");
  }
  if (config.String("bias").value_or("none") != "none") {
    config.Fail("bias", "\"none\" (trained biases are not supported)");
  }
}

std::vector<std::string> TargetsOf(const Settings& config) {
  const nlohmann::json* targets = config.Find("target_modules");
  if (targets == nullptr) return {};
  if (targets->is_string()) return {targets->get<std::string>()};
  std::vector<std::string> names;
  for (const nlohmann::json& target : *targets) {
    if (!target.is_string()) config.Fail("target_modules", "a text, or a list of texts");
    names.push_back(target.get<std::string>());
  }
  return names;
}

AdapterSettings ReadSettings(const std::filesystem::path& path) {
  const Settings config = Settings::Read(path / kAdapterConfig);
  CheckSupported(config);
  constexpr double kMost = 1e9;
  AdapterSettings settings;
  settings.rank = config.RequiredInteger("r", 1, int64_t{1} << 20);
  settings.alpha = config.Number("lora_alpha", -kMost, kMost).value_or(8);
  settings.dropout = config.Number("lora_dropout", 0, 1).value_or(0);
  settings.rank_stabilized = config.Boolean("use_rslora").value_or(false);
  settings.base = config.String("base_model_name_or_path").value_or("");
  settings.targets = TargetsOf(config);
  return settings;
}

// The linear map of the encoder that a module of the adapter is; "" for a module that it lacks.
std::string LinearOf(std::string_view module, const std::set<std::string, std::less<>>& linears,
                     std::span<const std::string_view> prefixes) {
  const auto known = [&](std::string_view name) {
    return linears.contains(name) ? std::string(name) : std::string();
  };
  if (std::string name = known(module); !name.empty()) return name;
  for (const std::string_view prefix : prefixes) {
    if (!module.starts_with(prefix)) continue;
    if (std::string name = known(module.substr(prefix.size())); !name.empty()) return name;
  }
  return "";
}

// The module and which of its two matrices a tensor is.
struct TensorPlace {
  std::string_view module;
  bool up = false;
};
std::optional<TensorPlace> PlaceOf(std::string_view name) {
  if (!name.starts_with(kRoot)) return std::nullopt;
  name.remove_prefix(kRoot.size());
  for (const bool up : {false, true}) {
    const std::string_view end = up ? kUp : kDown;
    if (name.ends_with(end)) return TensorPlace{name.substr(0, name.size() - end.size()), up};
  }
  return std::nullopt;
}

const Shape& WeightShape(const EncoderSpec& spec, const std::string& linear) {
  const auto found =
      std::find_if(spec.tensors.begin(), spec.tensors.end(),
                   [&](const EncoderTensor& tensor) { return tensor.name == linear + ".weight"; });
  return found->shape;
}

void CheckPair(const AdapterFolder& folder, const EncoderSpec& spec, const std::string& linear,
               const AdapterPair& pair) {
  const std::string file = (folder.path / kAdapterWeights).native();
  if (pair.down == nullptr || pair.up == nullptr) {
    throw ModelError(file, linear,
                     fmt::format("has no {}", pair.down == nullptr ? "lora_A" : "lora_B"));
  }
  const Shape& weight = WeightShape(spec, linear);
  const Shape down = {folder.settings.rank, weight[1]}, up = {weight[0], folder.settings.rank};
  for (const auto& [view, shape] : {std::pair(pair.down, down), std::pair(pair.up, up)}) {
    if (view->shape == shape && IsComputable(view->dtype)) continue;
    throw ModelError(file, view->name,
                     fmt::format("is {} of shape {}; {} is expected for rank {} and the base's "
                                 "weight {}: the adapter is of another base",
                                 DtypeName(view->dtype), ShapeText(view->shape), ShapeText(shape),
                                 folder.settings.rank, ShapeText(weight)));
  }
}

// Components of the names of modules that models have beside what the encoder computes: BERT's and
// MPNet's pooler, T5's decoder, and the heads of task models in transformers.
constexpr std::string_view kBesideEncoder[] = {
    "pooler",          "decoder", "cls",        "lm_head",        "head",       "vocab_transform",
    "vocab_projector", "score",   "classifier", "pre_classifier", "qa_outputs", "seq_relationship",
};

bool IsBesideEncoder(std::string_view module) {
  while (!module.empty()) {
    const size_t dot = std::min(module.find('.'), module.size());
    const std::string_view component = module.substr(0, dot);
    if (std::find(std::begin(kBesideEncoder), std::end(kBesideEncoder), component) !=
        std::end(kBesideEncoder)) {
      return true;
    }
    module.remove_prefix(std::min(dot + 1, module.size()));
  }
  return false;
}

void AddTensor(AdapterFolder& folder, const TensorView& view,
               const std::set<std::string, std::less<>>& linears,
               std::span<const std::string_view> prefixes, std::vector<std::string>* left_out) {
  const std::string file = (folder.path / kAdapterWeights).native();
  const std::optional<TensorPlace> place = PlaceOf(view.name);
  if (!place) {
    throw ModelError(file, view.name,
                     "is no lora_A or lora_B of a linear map; adapters of other "
                     "modules are not supported");
  }
  const std::string linear = LinearOf(place->module, linears, prefixes);
  if (!linear.empty()) {
    AdapterPair& pair = folder.pairs[linear];
    (place->up ? pair.up : pair.down) = &view;
    return;
  }
  if (!IsBesideEncoder(place->module)) {
    throw ModelError(
        file, view.name,
        fmt::format("adapts {}, which the base has not; the adapter is of another base",
                    place->module));
  }
  if (place->up) left_out->emplace_back(place->module);
}

}  // namespace

double AdapterSettings::scale() const {
  const auto r = static_cast<double>(rank);
  return alpha / (rank_stabilized ? std::sqrt(r) : r);
}

AdapterFolder ReadAdapterFolder(const std::filesystem::path& path, const EncoderSpec& spec,
                                std::span<const std::string_view> prefixes) {
  if (!std::filesystem::exists(path / kAdapterConfig)) {
    throw ModelError(path.native(), "",
                     fmt::format("is no adapter folder: it has no {}", kAdapterConfig));
  }
  AdapterFolder folder{path, ReadSettings(path), {}, nullptr};
  folder.weights = std::make_shared<const SafetensorsFile>(path / kAdapterWeights);
  const std::vector<std::string> names = LinearNames(spec);
  const std::set<std::string, std::less<>> linears(names.begin(), names.end());
  std::vector<std::string> left_out;
  for (const TensorView& view : folder.weights->tensors()) {
    AddTensor(folder, view, linears, prefixes, &left_out);
  }
  for (const auto& [linear, pair] : folder.pairs) CheckPair(folder, spec, linear, pair);
  if (folder.pairs.empty()) {
    throw ModelError((path / kAdapterWeights).native(), "", "adapts nothing of the encoder");
  }
  if (!left_out.empty()) {
    Note(fmt::format("{}: left out, because embeddings do not depend on it: {}", path.native(),
                     fmt::join(left_out, ", ")));
  }
  return folder;
}

void WarnOfOtherBase(const AdapterFolder& adapter, const std::filesystem::path& base) {
  const auto last = [](const std::filesystem::path& path) {
    const std::filesystem::path plain = path.lexically_normal();
    return (plain.has_filename() ? plain : plain.parent_path()).filename();
  };
  const std::string& named = adapter.settings.base;
  if (named.empty() || last(named) == last(base)) return;
  Warn(fmt::format("{} says that it is an adapter of {}; it is used with {}", adapter.path.native(),
                   named, base.native()));
}

std::string DownName(const std::string& linear) {
  return fmt::format("{}{}{}", kRoot, linear, kDown);
}
std::string UpName(const std::string& linear) { return fmt::format("{}{}{}", kRoot, linear, kUp); }

namespace {

// Where the name goes on behind its `components` last components.
size_t SuffixStart(std::string_view name, int components) {
  size_t at = name.size();
  for (int i = 0; i < components; ++i) {
    const size_t dot = at == 0 ? std::string_view::npos : name.rfind('.', at - 1);
    if (dot == std::string_view::npos) return 0;
    at = dot;
  }
  return at + 1;
}

bool EndsWith(std::string_view name, std::string_view suffix) {
  return name == suffix || (name.size() > suffix.size() && name.ends_with(suffix) &&
                            name[name.size() - suffix.size() - 1] == '.');
}

}  // namespace

std::vector<std::string> TargetModules(const EncoderSpec& spec,
                                       const std::vector<std::string>& linears,
                                       const std::vector<std::string>& others) {
  const std::set<std::string> wanted(linears.begin(), linears.end());
  std::vector<std::string> unwanted = others;
  for (const std::string& name : LinearNames(spec)) {
    if (!wanted.contains(name)) unwanted.push_back(name);
  }
  std::set<std::string> targets;
  for (const std::string& name : linears) {
    std::string suffix;
    for (int components = 1; suffix != name; ++components) {
      suffix = name.substr(SuffixStart(name, components));
      const bool too_short = std::any_of(unwanted.begin(), unwanted.end(), [&](const auto& other) {
        return EndsWith(other, suffix);
      });
      if (!too_short) break;
    }
    targets.insert(suffix);
  }
  return {targets.begin(), targets.end()};
}

void WriteAdapterFolder(const std::filesystem::path& path, const AdapterSettings& settings,
                        std::span<const TensorToWrite> tensors) {
  if (std::filesystem::exists(path) && !std::filesystem::exists(path / kAdapterConfig) &&
      !(std::filesystem::is_directory(path) && std::filesystem::is_empty(path))) {
    throw UsageError(
        fmt::format("{}: exists and is no adapter folder; it is not replaced", path.native()));
  }
  const Json config = {{"peft_type", "LORA"},
                       {"task_type", "FEATURE_EXTRACTION"},
                       {"base_model_name_or_path", settings.base},
                       {"r", settings.rank},
                       {"lora_alpha", settings.alpha},
                       {"lora_dropout", settings.dropout},
                       {"use_rslora", settings.rank_stabilized},
                       {"bias", "none"},
                       {"fan_in_fan_out", false},
                       {"inference_mode", true},
                       {"target_modules", settings.targets}};
  AtomicFolder target(path);
  WriteSafetensors(target.staging() / kAdapterWeights, tensors);
  WriteFileAtomically(target.staging() / kAdapterConfig, config.dump(2) + "\n");
  target.Commit();
}

std::string MergedWeight::Bytes() const {
  const auto rows = static_cast<size_t>(weight.shape[0]),
             width = static_cast<size_t>(weight.shape[1]);
  std::vector<float> base(rows * width);
  CopyAsFloat32(weight, base);
  std::vector<double> change(width);
  for (size_t n = 0; n < rows; ++n) {
    std::fill(change.begin(), change.end(), 0.0);
    for (int64_t r = 0; r < rank; ++r) {
      const double factor =
          scale * static_cast<double>(up[n * static_cast<size_t>(rank) + static_cast<size_t>(r)]);
      const float* a = down + static_cast<size_t>(r) * width;
      for (size_t k = 0; k < width; ++k) change[k] += factor * static_cast<double>(a[k]);
    }
    float* to = base.data() + n * width;
    for (size_t k = 0; k < width; ++k) to[k] = static_cast<float>(to[k] + change[k]);
  }
  return {reinterpret_cast<const char*>(base.data()), base.size() * sizeof(float)};
}

}  // namespace tandem::weights
