#include "weights/settings/config_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "weights/settings/settings_file.h"

namespace tandem::weights {

int64_t Read(const Settings& config, const IntegerKey& key) {
  if (!key.fallback) return config.RequiredInteger(key.name, key.least, key.most);
  return config.Integer(key.name, key.least, key.most).value_or(*key.fallback);
}

double Read(const Settings& config, const NumberKey& key) {
  return config.Number(key.name, key.least, key.most).value_or(key.fallback);
}

bool Read(const Settings& config, const BooleanKey& key) {
  return config.Boolean(key.name).value_or(key.fallback);
}

std::string Read(const Settings& config, const ChoiceKey& key) {
  const std::string value = config.String(key.name).value_or(std::string(key.fallback));
  if (std::find(key.choices.begin(), key.choices.end(), value) == key.choices.end()) {
    const std::string supported = fmt::format("\"{}\"", fmt::join(key.choices, "\" or \""));
    config.Fail(key.name, supported + (key.choices.size() == 1 ? " (the only supported one)" : ""));
  }
  return value;
}

namespace {

ConfigKeyText Text(const IntegerKey& key) {
  return {std::string(key.name), std::string(key.meaning),
          fmt::format("{} to {}", key.least, key.most),
          key.fallback            ? fmt::format("{}", *key.fallback)
          : key.otherwise.empty() ? "required"
                                  : std::string(key.otherwise)};
}
ConfigKeyText Text(const NumberKey& key) {
  return {std::string(key.name), std::string(key.meaning),
          fmt::format("{} to {}", key.least, key.most), fmt::format("{}", key.fallback)};
}
ConfigKeyText Text(const BooleanKey& key) {
  return {std::string(key.name), std::string(key.meaning), "true, false",
          key.fallback ? "true" : "false"};
}
ConfigKeyText Text(const ChoiceKey& key) {
  return {std::string(key.name), std::string(key.meaning),
          fmt::format("{}", fmt::join(key.choices, ", ")), std::string(key.fallback)};
}
ConfigKeyText Text(const OtherKey& key) {
  return {std::string(key.name), std::string(key.meaning), "", ""};
}

}  // namespace

ConfigKeyText TextOf(const ConfigKey& key) {
  return std::visit([](const auto* one) { return Text(*one); }, key);
}

}  // namespace tandem::weights
