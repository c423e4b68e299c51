#include "weights/settings/settings_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_members.h"

namespace tandem::weights {
namespace {

constexpr int kMaxDepth = 64;

}  // namespace

std::string ReadModelFile(const std::filesystem::path& path, uintmax_t limit) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    throw ModelError(path.native(), "", fmt::format("cannot be read: {}", error.message()));
  }
  if (size > limit) {
    throw ModelError(path.native(), "",
                     fmt::format("has {} bytes; at most {} are expected here", size, limit));
  }
  try {
    return ReadFile(path);
  } catch (const DataError& data_error) {
    throw Error(ExitCode::kModel, data_error.what());
  }
}

nlohmann::json ParseSettings(std::string_view text, std::string_view file,
                             const std::vector<std::string_view>& skipped) {
  const auto keep = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (depth > kMaxDepth) {
      throw ModelError(file, "", fmt::format("is nested deeper than {} levels", kMaxDepth));
    }
    if (depth != 1 || event != nlohmann::json::parse_event_t::key) return true;
    const std::string& key = parsed.get_ref<const std::string&>();
    return std::find(skipped.begin(), skipped.end(), key) == skipped.end();
  };
  try {
    return ParsePythonJson(text, keep);
  } catch (const JsonTextError& error) {
    throw ModelError(file, "", error.what());
  }
}

Settings Settings::Read(const std::filesystem::path& path) {
  return Settings(path.native(),
                  ParseSettings(ReadModelFile(path, kMaxSettingsBytes), path.native()));
}

Settings Settings::ReadIfThere(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return Settings(path.native(), nlohmann::json::object());
  return Read(path);
}

Settings::Settings(std::string file, nlohmann::json value)
    : file_(std::move(file)), value_(std::move(value)) {
  if (!value_.is_object()) throw ModelError(file_, "", "is not a JSON object");
}

bool Settings::Has(std::string_view key) const { return Find(key) != nullptr; }

std::vector<std::string> Settings::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : value_.items()) keys.push_back(key);
  return keys;
}

bool Settings::IsNull(std::string_view key) const {
  const auto found = value_.find(std::string(key));
  return found != value_.end() && found->is_null();
}

void Settings::Set(std::string_view key, nlohmann::json value) {
  value_[std::string(key)] = std::move(value);
}

const nlohmann::json* Settings::Find(std::string_view key) const {
  const auto found = value_.find(std::string(key));
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Settings::String(std::string_view key) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) Fail(key, "a string");
  return value->get<std::string>();
}

std::optional<bool> Settings::Boolean(std::string_view key) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) Fail(key, "true or false");
  return value->get<bool>();
}

std::optional<int64_t> Settings::Integer(std::string_view key, int64_t least, int64_t most) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  const bool fits =
      value->is_number_integer() &&
      !(value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(most)) &&
      value->get<int64_t>() >= least && value->get<int64_t>() <= most;
  if (!fits) Fail(key, fmt::format("an integer from {} to {}", least, most));
  return value->get<int64_t>();
}

std::optional<double> Settings::Number(std::string_view key, double least, double most) const {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number() || !(value->get<double>() >= least && value->get<double>() <= most)) {
    Fail(key, fmt::format("a number from {} to {}", least, most));
  }
  return value->get<double>();
}

int64_t Settings::RequiredInteger(std::string_view key, int64_t least, int64_t most) const {
  if (!Has(key)) Fail(key, fmt::format("an integer from {} to {}", least, most));
  return *Integer(key, least, most);
}

std::string Settings::RequiredString(std::string_view key) const {
  if (!Has(key)) Fail(key, "a string");
  return *String(key);
}

void Settings::Fail(std::string_view key, std::string_view expected) const {
  const nlohmann::json* value = Find(key);
  throw ModelError(file_, "",
                   fmt::format("'{}' is {}; {} expected", key,
                               value == nullptr ? "missing" : ShownJson(*value), expected));
}

}  // namespace tandem::weights
