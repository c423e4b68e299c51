#include "text/settings_file.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json_members.h"

namespace tandem::text {

using nlohmann::json;

SettingsFile::SettingsFile(const std::filesystem::path& path)
    : file_(path.native()), json_(std::make_unique<json>(json::object())) {
  if (!std::filesystem::exists(path)) return;
  try {
    *json_ = ParsePythonJson(ReadFile(path));
  } catch (const JsonTextError& error) {
    throw ModelError(file_, "", error.what());
  }
  if (!json_->is_object()) throw ModelError(file_, "", "expected a JSON object");
}

SettingsFile::~SettingsFile() = default;

void SettingsFile::Fail(std::string_view name, std::string_view expected) const {
  throw ModelError(
      file_, "", fmt::format("{}: expected {}, found {}", name, expected, Find(name)->type_name()));
}

const json* SettingsFile::Find(std::string_view name) const {
  const auto found = json_->find(name);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

std::optional<bool> SettingsFile::Boolean(std::string_view name) const {
  const json* value = Find(name);
  if (value == nullptr) return {};
  if (!value->is_boolean()) Fail(name, "true or false");
  return value->get<bool>();
}

std::optional<std::string> SettingsFile::Token(std::string_view name) const {
  const json* value = Find(name);
  if (value == nullptr) return {};
  if (value->is_object() && value->contains("content")) value = &(*value)["content"];
  if (!value->is_string()) Fail(name, "a token");
  return value->get<std::string>();
}

}  // namespace tandem::text
