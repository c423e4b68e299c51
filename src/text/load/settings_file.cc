#include "text/load/settings_file.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_members.h"

namespace tandem::text {
using Json = nlohmann::ordered_json;

SettingsFile::SettingsFile(const std::filesystem::path& path, const KnownFiles& known)
    : file_(path.native()), json_(std::make_unique<Json>(Json::object())) {
  if (!std::filesystem::exists(path)) return;
  const std::string* const bytes = known ? known(path) : nullptr;
  try {
    *json_ = ParseOrderedPythonJson(bytes != nullptr ? *bytes : ReadFile(path));
  } catch (const JsonTextError& error) {
    throw ModelError(file_, "", error.what());
  }
  if (!json_->is_object()) throw ModelError(file_, "", "expected a JSON object");
}

SettingsFile::~SettingsFile() = default;

std::optional<std::string> SettingsFile::Text(std::string_view name) const {
  const auto found = json_->find(name);
  if (found == json_->end() || found->is_null()) return {};
  if (!found->is_string()) {
    throw ModelError(file_, "",
                     fmt::format("{}: expected a string, found {}", name, found->type_name()));
  }
  return found->get<std::string>();
}

}  // namespace tandem::text
