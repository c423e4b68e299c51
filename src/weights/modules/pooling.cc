#include "weights/modules/pooling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/error.h"
#include "base/suggest.h"
#include "weights/modules/module_settings.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

struct ModeSpelling {
  PoolingMode mode;
  std::string_view name;     // from release 5.4 on
  std::string_view boolean;  // before
};
constexpr std::array<ModeSpelling, 6> kModes = {{
    {PoolingMode::kCls, "cls", "pooling_mode_cls_token"},
    {PoolingMode::kMax, "max", "pooling_mode_max_tokens"},
    {PoolingMode::kMean, "mean", "pooling_mode_mean_tokens"},
    {PoolingMode::kMeanSqrtLen, "mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens"},
    {PoolingMode::kWeightedMean, "weightedmean", "pooling_mode_weightedmean_tokens"},
    {PoolingMode::kLastToken, "lasttoken", "pooling_mode_lasttoken"},
}};

PoolingMode ModeOf(const std::string& name, const Settings& config) {
  if (const std::optional<PoolingMode> mode = PoolingModeFromName(name)) return *mode;
  std::vector<std::string_view> known;
  for (const ModeSpelling& spelling : kModes) known.push_back(spelling.name);
  throw ModelError(config.file(), "",
                   fmt::format("the pooling mode '{}' is not supported; supported: {}{}", name,
                               fmt::join(known, ", "), DidYouMean(name, known)));
}

std::vector<PoolingMode> ListedModes(const Settings& config) {
  std::vector<PoolingMode> modes;
  const Json& mode = *config.Find("pooling_mode");
  const Json listed = mode.is_array() ? mode : Json::array({mode});
  for (const Json& item : listed) {
    if (!item.is_string()) config.Fail("pooling_mode", "a name or a list of names");
    modes.push_back(ModeOf(item.get<std::string>(), config));
  }
  return modes;
}

std::vector<PoolingMode> SwitchedOnModes(const Settings& config) {
  std::vector<PoolingMode> modes;
  for (const ModeSpelling& spelling : kModes) {
    if (config.Boolean(spelling.boolean).value_or(false)) modes.push_back(spelling.mode);
  }
  return modes;
}

// Says whether booleans say all of it: each mode once, in their order.
bool InOrder(const std::vector<PoolingMode>& modes) {
  return std::adjacent_find(modes.begin(), modes.end(), std::greater_equal<>()) == modes.end();
}

// One that is misspelt would mean the mean of all tokens.
void CheckPoolingKeys(const Settings& config) {
  std::vector<std::string_view> known = {"word_embedding_dimension", "embedding_dimension",
                                         "pooling_mode", "include_prompt"};
  for (const ModeSpelling& spelling : kModes) known.push_back(spelling.boolean);
  CheckModuleKeys(config, known, "Pooling");
}

}  // namespace

std::string_view PoolingModeName(PoolingMode mode) {
  return kModes[static_cast<size_t>(mode)].name;
}

std::optional<PoolingMode> PoolingModeFromName(std::string_view name) {
  for (const ModeSpelling& spelling : kModes) {
    if (spelling.name == name) return spelling.mode;
  }
  return std::nullopt;
}

std::string PoolingText(const Pooling& pooling) {
  std::vector<std::string_view> names;
  for (const PoolingMode mode : pooling.modes) names.push_back(PoolingModeName(mode));
  return fmt::format("{}{}", fmt::join(names, " + "),
                     pooling.include_prompt ? "" : ", without the prompt's tokens");
}

Pooling ReadPooling(const Settings& config, int64_t width) {
  CheckPoolingKeys(config);
  Pooling pooling{
      .modes = config.Has("pooling_mode") ? ListedModes(config) : SwitchedOnModes(config),
      // Null is false in Python's conditions.
      .include_prompt =
          config.Boolean("include_prompt").value_or(!config.IsNull("include_prompt"))};
  if (pooling.modes.empty()) pooling.modes = {PoolingMode::kMean};  // as sentence-transformers
  for (const char* key : {"embedding_dimension", "word_embedding_dimension"}) {
    const std::optional<int64_t> stated = config.Integer(key, 1, int64_t{1} << 24);
    if (stated.value_or(width) != width) {
      config.Fail(key, fmt::format("{}, the encoder's hidden_size,", width));
    }
  }
  return pooling;
}

std::string PoolingConfigText(const Pooling& pooling, int64_t width) {
  Json config;
  if (!InOrder(pooling.modes)) {
    config["embedding_dimension"] = width;
    for (const PoolingMode mode : pooling.modes) {
      config["pooling_mode"].push_back(PoolingModeName(mode));
    }
  } else {
    config["word_embedding_dimension"] = width;
    // The first four stand in every folder, the others, which early releases do not know, where
    // they are on.
    for (const PoolingMode mode :
         {PoolingMode::kCls, PoolingMode::kMean, PoolingMode::kMax, PoolingMode::kMeanSqrtLen,
          PoolingMode::kWeightedMean, PoolingMode::kLastToken}) {
      const bool on =
          std::find(pooling.modes.begin(), pooling.modes.end(), mode) != pooling.modes.end();
      if (!on && mode > PoolingMode::kMeanSqrtLen) continue;
      config[std::string(kModes[static_cast<size_t>(mode)].boolean)] = on;
    }
  }
  if (!pooling.include_prompt) config["include_prompt"] = false;
  return config.Dump(2) + "\n";
}

}  // namespace tandem::weights
