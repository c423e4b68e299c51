#include "weights/settings/settings_file.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_members.h"
#include "base/json/json_reader.h"

namespace tandem::weights {
namespace {

constexpr size_t kMaxDepth = 64;

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

Json ParseSettings(std::string_view text, std::string_view file) {
  try {
    return ParseJson(text, {.python_numbers = true, .most_levels = kMaxDepth});
  } catch (const JsonTextError& error) {
    throw ModelError(file, "", error.what());
  }
}

Json ReadToRewrite(const std::filesystem::path& path) {
  try {
    return ParseJson(ReadModelFile(path, kMaxSettingsBytes));
  } catch (const JsonTextError& error) {
    throw ModelError(path.native(), "", error.what());
  }
}

Settings Settings::Read(const std::filesystem::path& path) {
  return Settings(path.native(),
                  ParseSettings(ReadModelFile(path, kMaxSettingsBytes), path.native()));
}

Settings Settings::ReadIfThere(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return Settings(path.native(), Json::object());
  return Read(path);
}

Settings::Settings(std::string file, Json value, std::string place)
    : file_(std::move(file)), value_(std::move(value)), place_(std::move(place)) {
  if (!value_.is_object()) throw ModelError(file_, "", "is not a JSON object");
  value_.SortMembers();
}

bool Settings::Has(std::string_view key) const { return Find(key) != nullptr; }

std::vector<std::string> Settings::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : value_.items()) keys.push_back(key);
  return keys;
}

bool Settings::IsNull(std::string_view key) const {
  const Json* const found = value_.Find(key);
  return found != nullptr && found->is_null();
}

void Settings::Set(std::string_view key, Json value) {
  value_[key] = std::move(value);
  value_.SortMembers();
}

const Json* Settings::Find(std::string_view key) const {
  const Json* const found = value_.Find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::optional<std::string> Settings::String(std::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) Fail(key, "a string");
  return value->get<std::string>();
}

std::optional<bool> Settings::Boolean(std::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) Fail(key, "true or false");
  return value->get<bool>();
}

std::optional<int64_t> Settings::Integer(std::string_view key, int64_t least, int64_t most) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  const bool fits =
      value->is_number_integer() &&
      !(value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(most)) &&
      value->get<int64_t>() >= least && value->get<int64_t>() <= most;
  if (!fits) Fail(key, fmt::format("an integer from {} to {}", least, most));
  return value->get<int64_t>();
}

std::optional<double> Settings::Number(std::string_view key, double least, double most) const {
  const Json* value = Find(key);
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

Settings Settings::RequiredObject(std::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr || !value->is_object()) Fail(key, "an object");
  return {file_, *value};
}

std::string Settings::RequiredString(std::string_view key) const {
  if (!Has(key)) Fail(key, "a string");
  return *String(key);
}

void Settings::Fail(std::string_view key, std::string_view expected) const {
  const Json* value = Find(key);
  throw ModelError(file_, "",
                   fmt::format("'{}{}' is {}; {} expected", place_, key,
                               value == nullptr ? "missing" : ShownJson(*value), expected));
}

}  // namespace tandem::weights
