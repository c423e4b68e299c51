#include "weights/settings/rotary_settings.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr double kMostBase = 1e12;
constexpr double kMostFactor = 1e6;
constexpr double kMostPositions = 1e9;

Json ObjectOf(const Settings& config, std::string_view key) {
  const Json* value = config.Find(key);
  if (value == nullptr) return Json::object();
  if (!value->is_object()) config.Fail(key, "an object");
  return *value;
}

bool IsByKind(const Json& parameters) {
  return parameters.contains("full_attention") || parameters.contains("sliding_attention");
}

// The object that holds "rope_type", "rope_theta" and the numbers of a scaling.
Settings ParametersOf(const Settings& config, const RotarySource& source) {
  const Json scaling = ObjectOf(config, kRopeScaling.name);
  Json parameters = ObjectOf(config, kRopeParameters.name);
  if (source.kind.empty()) {
    if (IsByKind(parameters)) config.Fail(kRopeParameters.name, "one object for all layers");
    return {config.file(), scaling.empty() ? parameters : scaling};
  }
  if (!parameters.empty() && !IsByKind(parameters)) {
    config.Fail(kRopeParameters.name, "an object with full_attention and sliding_attention");
  }
  const Json* const found = parameters.Find(source.kind);
  Json own = found == nullptr || found->is_null() ? Json::object() : *found;
  if (!own.is_object()) config.Fail(kRopeParameters.name, "objects as values");
  if (source.scaled) own.Update(scaling);
  return {config.file(), own};
}

// 1 / base^(2 c / width), in float as transformers computes them; the powers are rounded correctly.
std::vector<float> InverseFrequencies(double base, int64_t width) {
  std::vector<float> frequencies;
  for (int64_t c = 0; c < width / 2; ++c) {
    const float exponent = static_cast<float>(2 * c) / static_cast<float>(width);
    const auto power = static_cast<float>(
        std::pow(static_cast<double>(static_cast<float>(base)), static_cast<double>(exponent)));
    frequencies.push_back(1.0F / power);
  }
  return frequencies;
}

double RequiredNumber(const Settings& parameters, std::string_view key, double most) {
  const auto value = parameters.Number(key, 1e-6, most);
  if (!value) parameters.Fail(key, "a number, which this scaling of rotary positions needs,");
  return *value;
}

void ScaleLinearly(const Settings& parameters, RotarySpec* rotary) {
  const double factor = RequiredNumber(parameters, "factor", kMostFactor);
  for (float& frequency : rotary->inverse_frequencies) frequency /= static_cast<float>(factor);
  rotary->text += fmt::format(", linear scaling by {}", factor);
}

// number / x as libtorch divides a number by a tensor: the reciprocal is rounded first.
float Over(float number, float x) { return 1.0F / x * number; }

// Llama 3's: long waves are slowed by `factor`, short ones are kept, those between are mixed.
void ScaleAsLlama3(const Settings& config, const Settings& parameters, RotarySpec* rotary) {
  const auto factor = static_cast<float>(RequiredNumber(parameters, "factor", kMostFactor));
  const double low = RequiredNumber(parameters, "low_freq_factor", kMostFactor);
  const double high = RequiredNumber(parameters, "high_freq_factor", kMostFactor);
  if (!(high > low)) parameters.Fail("high_freq_factor", "a number above low_freq_factor");
  constexpr std::string_view kOriginal = "original_max_position_embeddings";
  auto original = config.Number(kOriginal, 1, kMostPositions);
  if (!original) original = parameters.Number(kOriginal, 1, kMostPositions);
  if (!original) original = config.Number("max_position_embeddings", 1, kMostPositions);
  if (!original) parameters.Fail(kOriginal, "a number");
  const auto longest = static_cast<float>(*original / low);
  const auto shortest = static_cast<float>(*original / high);
  for (float& frequency : rotary->inverse_frequencies) {
    const float wave = Over(static_cast<float>(2 * std::numbers::pi), frequency);
    if (wave > longest) {
      frequency /= factor;
    } else if (!(wave < shortest)) {
      const float smooth = (Over(static_cast<float>(*original), wave) - static_cast<float>(low)) /
                           static_cast<float>(high - low);
      frequency = (1 - smooth) * frequency / factor + smooth * frequency;
    }
  }
  rotary->text +=
      fmt::format(", llama3 scaling by {} ({} to {} of {})", factor, low, high, *original);
}

}  // namespace

RotarySpec ReadRotary(const Settings& config, const RotarySource& source, int64_t head_width) {
  const Settings parameters = ParametersOf(config, source);
  const double base =
      parameters.Number("rope_theta", 1, kMostBase)
          .value_or(config.Number(source.base_key, 1, kMostBase).value_or(source.base));
  for (const Settings* settings : {&parameters, &config}) {
    if (settings->Number("partial_rotary_factor", 0, 1).value_or(1) != 1) {
      settings->Fail("partial_rotary_factor", "1 (all channels of a head turn)");
    }
  }
  RotarySpec rotary{.inverse_frequencies = InverseFrequencies(base, head_width),
                    .text = fmt::format("base {}", base)};
  const char* key = parameters.Has("rope_type") ? "rope_type" : "type";
  const std::string type = parameters.String(key).value_or("default");
  if (type == "linear") {
    ScaleLinearly(parameters, &rotary);
  } else if (type == "llama3") {
    ScaleAsLlama3(config, parameters, &rotary);
  } else if (type != "default") {
    parameters.Fail(key,
                    "\"default\", \"linear\" or \"llama3\" (the supported scalings of rotary "
                    "positions)");
  }
  return rotary;
}

}  // namespace tandem::weights
