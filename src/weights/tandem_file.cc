#include "weights/tandem_file.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "weights/settings_file.h"

namespace tandem::weights {
namespace {

constexpr int64_t kFormat = 1;
constexpr int64_t kMaxFormat = 1'000'000;

constexpr std::array<std::string_view, 3> kTowers = {"shared", "separate",
                                                     "separate_shared_projection"};

void CheckFormat(const Settings& settings) {
  if (settings.RequiredInteger("format", 1, kMaxFormat) > kFormat) {
    settings.Fail("format", fmt::format("{} (a later version of Tandem wrote the file)", kFormat));
  }
}

// Far above any scale or bias that training reaches. JSON has no infinity.
constexpr double kMost = 1e30;

double RequiredNumber(const Settings& settings, std::string_view key) {
  const std::optional<double> number = settings.Number(key, -kMost, kMost);
  if (!number) settings.Fail(key, "a number");
  return *number;
}

std::optional<Calibration> ReadCalibration(const Settings& settings) {
  const nlohmann::json* value = settings.Find("probability");
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) settings.Fail("probability", "an object");
  const Settings probability(settings.file(), *value);
  Calibration calibration{.objective = settings.String("objective").value_or(""),
                          .scale = RequiredNumber(probability, "scale"),
                          .bias = RequiredNumber(probability, "bias"),
                          .similarity = probability.RequiredString("similarity")};
  if (calibration.similarity != "cosine" && calibration.similarity != "dot") {
    probability.Fail("similarity", "\"cosine\" or \"dot\"");
  }
  return calibration;
}

std::optional<size_t> ReadLength(const Settings& settings, std::string_view key) {
  const auto length = settings.Integer(key, 1, INT32_MAX);
  return length ? std::optional<size_t>(static_cast<size_t>(*length)) : std::nullopt;
}

Towers ReadTowers(const Settings& settings) {
  const std::optional<std::string> name = settings.String("towers");
  if (!name) return Towers::kShared;
  const std::optional<Towers> towers = TowersFromName(*name);
  if (!towers) {
    settings.Fail("towers",
                  fmt::format("\"{}\", \"{}\" or \"{}\"", kTowers[0], kTowers[1], kTowers[2]));
  }
  return *towers;
}

}  // namespace

std::string_view TowersName(Towers towers) { return kTowers[static_cast<size_t>(towers)]; }

std::optional<Towers> TowersFromName(std::string_view name) {
  for (size_t i = 0; i < kTowers.size(); ++i) {
    if (kTowers[i] == name) return static_cast<Towers>(i);
  }
  return std::nullopt;
}

TandemFile ReadTandemFile(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / kTandemFile)) return {};
  const Settings settings = Settings::Read(folder / kTandemFile);
  CheckFormat(settings);
  return {.towers = ReadTowers(settings),
          .max_query_tokens = ReadLength(settings, "max_query_tokens"),
          .max_document_tokens = ReadLength(settings, "max_document_tokens"),
          .calibration = ReadCalibration(settings)};
}

std::string TandemFileText(const TandemFile& file) {
  nlohmann::ordered_json text = {{"format", kFormat}};
  if (file.towers != Towers::kShared) text["towers"] = TowersName(file.towers);
  if (file.max_query_tokens) text["max_query_tokens"] = *file.max_query_tokens;
  if (file.max_document_tokens) text["max_document_tokens"] = *file.max_document_tokens;
  if (file.calibration) {
    const Calibration& calibration = *file.calibration;
    text["objective"] = calibration.objective;
    text["probability"] = {{"scale", calibration.scale},
                           {"bias", calibration.bias},
                           {"similarity", calibration.similarity},
                           {"formula", "1 / (1 + exp(-(scale * score + bias)))"}};
  }
  return text.dump(2) + "\n";
}

}  // namespace tandem::weights
