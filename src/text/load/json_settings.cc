#include "text/load/json_settings.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_reader.h"

namespace tandem::text {

JsonSettings::JsonSettings(const std::filesystem::path& path, const KnownFiles& known)
    : file_(path.native()) {
  if (!std::filesystem::exists(path)) return;
  const Json* const read = known ? known(path) : nullptr;
  try {
    json_ = read != nullptr ? *read : ParseJson(ReadFile(path), {.python_numbers = true});
  } catch (const JsonTextError& error) {
    throw ModelError(file_, "", error.what());
  }
  if (!json_.is_object()) throw ModelError(file_, "", "expected a JSON object");
}

std::optional<std::string> JsonSettings::Text(std::string_view name) const {
  const Json* const found = json_.Find(name);
  if (found == nullptr || found->is_null()) return {};
  if (!found->is_string()) {
    throw ModelError(file_, "",
                     fmt::format("{}: expected a string, found {}", name, found->type_name()));
  }
  return found->get<std::string>();
}

}  // namespace tandem::text
