#include "weights/folders/tandem_file.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "base/files/files.h"
#include "base/json/json.h"
#include "weights/settings/calibration_json.h"
#include "weights/settings/guarantee_json.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr int64_t kFormat = 1;
constexpr int64_t kMaxFormat = 1'000'000;
constexpr int64_t kMostSteps = 1'000'000'000'000;

constexpr std::array<std::string_view, 3> kTowers = {"shared", "separate",
                                                     "separate_shared_projection"};

void CheckFormat(const Settings& settings) {
  if (settings.RequiredInteger("format", 1, kMaxFormat) > kFormat) {
    settings.Fail("format", fmt::format("{} (a later version of Tandem wrote the file)", kFormat));
  }
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

std::optional<StoppedRun> ReadStopped(const Settings& settings) {
  if (!settings.Has("stopped")) return std::nullopt;
  const Settings stopped = settings.RequiredObject("stopped");
  return StoppedRun{.step = stopped.RequiredInteger("step", 0, kMostSteps),
                    .steps = stopped.Integer("steps", 0, kMostSteps).value_or(0)};
}

// Lets `change` alter the members of the folder's file, which is made where it is missing.
template <typename Change>
void Rewrite(const std::filesystem::path& folder, const Change& change) {
  const ModelFiles files(folder);
  ReadTandemFile(files);  // a broken file stays as it is
  Json file = {{"format", kFormat}};
  if (files.Has(kTandemFile)) file = ReadToRewrite(files.PathOf(kTandemFile));
  change(&file);
  WriteFileAtomically(files.PathOf(kTandemFile), file.Dump(2) + "\n");
}

}  // namespace

std::string_view TowersName(Towers towers) { return kTowers[static_cast<size_t>(towers)]; }

std::optional<Towers> TowersFromName(std::string_view name) {
  for (size_t i = 0; i < kTowers.size(); ++i) {
    if (kTowers[i] == name) return static_cast<Towers>(i);
  }
  return std::nullopt;
}

TandemFile ReadTandemFile(const ModelFiles& files) {
  if (!files.Has(kTandemFile)) return {};
  const Settings& settings = files.Read(kTandemFile);
  CheckFormat(settings);
  return {.towers = ReadTowers(settings),
          .max_query_tokens = ReadLength(settings, "max_query_tokens"),
          .max_document_tokens = ReadLength(settings, "max_document_tokens"),
          .calibration = ReadCalibration(settings),
          .stopped = ReadStopped(settings)};
}

std::string TandemFileText(const TandemFile& file) {
  Json text = {{"format", kFormat}};
  if (file.towers != Towers::kShared) text["towers"] = TowersName(file.towers);
  if (file.max_query_tokens) text["max_query_tokens"] = *file.max_query_tokens;
  if (file.max_document_tokens) text["max_document_tokens"] = *file.max_document_tokens;
  if (file.stopped) {
    text["stopped"] = {{"step", file.stopped->step}};
    if (file.stopped->steps > 0) text["stopped"]["steps"] = file.stopped->steps;
  }
  PutCalibration(file.calibration, &text);
  return text.Dump(2) + "\n";
}

void WriteCalibration(const std::filesystem::path& folder,
                      const std::optional<Calibration>& calibration) {
  Rewrite(folder, [&](Json* file) { PutCalibration(calibration, file); });
}

std::optional<Guarantees> ReadGuarantees(const ModelFiles& files) {
  ReadTandemFile(files);
  return files.Has(kTandemFile) ? GuaranteesIn(files.Read(kTandemFile)) : std::nullopt;
}

void WriteGuarantees(const std::filesystem::path& folder,
                     const std::optional<Guarantees>& guarantees) {
  Rewrite(folder, [&](Json* file) { PutGuarantees(guarantees, file); });
}

}  // namespace tandem::weights
