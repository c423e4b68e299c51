// The Pooling module of a model folder: how the rows of a text's tokens become one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::weights {

class Settings;  // weights/settings/settings_file.h

// Modes are in the order in which sentence-transformers concatenates the results of several where a
// folder switches them on one by one.
enum class PoolingMode { kCls, kMax, kMean, kMeanSqrtLen, kWeightedMean, kLastToken };

// Gives the name that sentence-transformers uses: "cls", "max", "mean", "mean_sqrt_len_tokens",
// "weightedmean", "lasttoken".
std::string_view PoolingModeName(PoolingMode mode);
std::optional<PoolingMode> PoolingModeFromName(std::string_view name);

struct Pooling {
  std::vector<PoolingMode> modes = {PoolingMode::kMean};  // results are concatenated
  bool include_prompt = true;  // false: the tokens of the prompt are left out
};

// "mean", "cls + mean", "mean, without the prompt's tokens".
std::string PoolingText(const Pooling& pooling);

// Reads 1_Pooling/config.json in both spellings: `pooling_mode`, a name or a list of names (from
// sentence-transformers 5.4), and one boolean for each mode. No mode at all is mean, as there.
// `width` is that of the rows. Throws ModelError for an unknown mode and for another width.
Pooling ReadPooling(const Settings& config, int64_t width);

// The bytes of 1_Pooling/config.json for rows of `width` numbers: booleans, which every release
// reads, unless the modes stand in another order than theirs.
std::string PoolingConfigText(const Pooling& pooling, int64_t width);

}  // namespace tandem::weights
