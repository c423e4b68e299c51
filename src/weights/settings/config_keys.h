// Keys of config.json that an architecture reads: one description gives the value, its check, its
// error and its row in docs/models.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tandem::weights {

class Settings;

// Larger than any published encoder, small enough that no product of two overflows.
inline constexpr int64_t kMaxSize = int64_t{1} << 24;
inline constexpr int64_t kMaxLayers = 10'000;

struct IntegerKey {
  std::string_view name;
  std::string_view meaning;
  int64_t least = 1, most = kMaxSize;
  std::optional<int64_t> fallback;  // none: the key must be there
  std::string_view otherwise = {};  // in words, where the fallback is no number
};

struct NumberKey {
  std::string_view name;
  std::string_view meaning;
  double least = 0, most = 1;
  double fallback = 0;
};

struct BooleanKey {
  std::string_view name;
  std::string_view meaning;
  bool fallback = false;
};

// One of `choices`.
struct ChoiceKey {
  std::string_view name;
  std::string_view meaning;
  std::span<const std::string_view> choices;
  std::string_view fallback;
};

// A key with a form of its own (an object, a list), which the architecture's file reads by itself.
struct OtherKey {
  std::string_view name;
  std::string_view meaning;
};

using ConfigKey = std::variant<const IntegerKey*, const NumberKey*, const BooleanKey*,
                               const ChoiceKey*, const OtherKey*>;

// Each throws ModelError naming file and key for another type or a value out of range.
int64_t Read(const Settings& config, const IntegerKey& key);
double Read(const Settings& config, const NumberKey& key);
bool Read(const Settings& config, const BooleanKey& key);
std::string Read(const Settings& config, const ChoiceKey& key);

// A key as tables show it: name, meaning, "1 to 16777216", "0.1" or "required".
struct ConfigKeyText {
  std::string name, meaning, range, fallback;
};
ConfigKeyText TextOf(const ConfigKey& key);

}  // namespace tandem::weights
