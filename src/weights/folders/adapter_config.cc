#include "weights/folders/adapter_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "base/json/json.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

// Keys that change what an adapter computes; nothing may be there.
constexpr std::string_view kMustBeOff[] = {
    "use_dora",      "use_qalora",        "lora_bias",         "fan_in_fan_out",
    "alpha_pattern", "rank_pattern",      "modules_to_save",   "trainable_token_indices",
    "arrow_config",  "layer_replication", "target_parameters", "alora_invocation_tokens",
    "kasa_config",   "monteclora_config", "megatron_config",   "use_bdlora",
    "enable_lora",   "velora_config",
};
// Keys that say how an adapter was made or is shown, not what its tensors compute: which modules
// got one (the tensors' names say it), how A and B started.
constexpr std::string_view kHistory[] = {
    "task_type",      "auto_mapping",      "revision",       "inference_mode",
    "peft_version",   "exclude_modules",   "layers_pattern", "layers_to_transform",
    "megatron_core",  "loftq_config",      "eva_config",     "corda_config",
    "lora_ga_config", "qalora_group_size", "runtime_config", "ensure_weight_tying",
    "merge_weights",
};
// Keys that are read below.
constexpr std::string_view kRead[] = {
    "peft_type",      "r",          "lora_alpha",
    "lora_dropout",   "use_rslora", "base_model_name_or_path",
    "target_modules", "bias",       "init_lora_weights",
};
// Starts by which PEFT leaves the base as it is; a boolean is one, too.
constexpr std::string_view kPlainStarts[] = {"gaussian", "eva", "orthogonal", "mica"};

constexpr std::string_view kInstead =
    "in Python, merge_and_unload() makes a whole model of it, which Tandem reads";

template <size_t kCount>
bool IsAmong(std::string_view name, const std::string_view (&names)[kCount]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// The value is nothing that would be used: absent, false, or empty.
bool IsOff(const Json* value) {
  return value == nullptr || value->is_null() || *value == false ||
         ((value->is_object() || value->is_array()) && value->empty());
}

void CheckStart(const Settings& config) {
  const Json* start = config.Find("init_lora_weights");
  if (start == nullptr || start->is_boolean()) return;
  if (start->is_string()) {
    std::string name = start->get<std::string>();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (IsAmong(name, kPlainStarts)) return;
  }
  config.Fail(
      "init_lora_weights",
      fmt::format("true, false, \"gaussian\", \"eva\", \"orthogonal\" or \"mica\" (by other "
                  "starts PEFT changes the base's weights when it loads the adapter; {}) is",
                  kInstead));
}

// Why a key that is set cannot be followed, and what to do.
std::string Problem(std::string_view key) {
  if (key == "alora_invocation_tokens") return "an adapter of some tokens only is not supported";
  return fmt::format("{}; {}",
                     IsAmong(key, kMustBeOff) ? "it is not supported"
                                              : "the key is not known and may change what the "
                                                "adapter computes, so that it is not supported",
                     kInstead);
}

void CheckSupported(const Settings& config) {
  if (config.RequiredString("peft_type") != "LORA") {
    config.Fail(
        "peft_type",
        fmt::format("\"LORA\" (the only kind of adapter that is supported; {}) is", kInstead));
  }
  for (const std::string& key : config.Keys()) {
    if (IsAmong(key, kRead) || IsAmong(key, kHistory) || IsOff(config.Find(key))) continue;
    config.Fail(key, fmt::format("nothing ({}) is", Problem(key)));
  }
  if (config.String("bias").value_or("none") != "none") {
    config.Fail("bias",
                fmt::format("\"none\" (trained biases are not supported; {}) is", kInstead));
  }
  CheckStart(config);
}

std::vector<std::string> TargetsOf(const Settings& config) {
  const Json* targets = config.Find("target_modules");
  if (targets == nullptr) return {};
  if (targets->is_string()) return {targets->get<std::string>()};
  std::vector<std::string> names;
  const auto fail = [&] { config.Fail("target_modules", "a text, or a list of texts,"); };
  if (!targets->is_array()) fail();
  for (const Json& target : *targets) {
    if (!target.is_string()) fail();
    names.push_back(target.get<std::string>());
  }
  return names;
}

}  // namespace

double AdapterSettings::scale() const {
  const auto r = static_cast<double>(rank);
  return alpha / (rank_stabilized ? std::sqrt(r) : r);
}

AdapterSettings ReadAdapterConfig(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / kAdapterConfig)) {
    throw ModelError(folder.native(), "",
                     fmt::format("is no adapter folder: it has no {}", kAdapterConfig));
  }
  const Settings config = Settings::Read(folder / kAdapterConfig);
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

}  // namespace tandem::weights
