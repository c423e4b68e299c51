#include "text/settings_file.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json_problem.h"

namespace tandem::text {
namespace {

using Json = nlohmann::ordered_json;

// JSON text with null in place of the words that Python adds to JSON.
std::string WithoutNonFinite(std::string text) {
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      for (const std::string_view word : {"NaN", "-Infinity", "Infinity"}) {
        if (text.compare(i, word.size(), word) == 0) text.replace(i, word.size(), "null");
      }
    }
  }
  return text;
}

}  // namespace

SettingsFile::SettingsFile(const std::filesystem::path& path)
    : file_(path.native()), json_(std::make_unique<Json>(Json::object())) {
  if (!std::filesystem::exists(path)) return;
  const std::string text = ReadFile(path);
  *json_ = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json_->is_discarded()) {
    *json_ = Json::parse(WithoutNonFinite(text), nullptr, /*allow_exceptions=*/false);
  }
  if (json_->is_discarded()) throw ModelError(file_, "", JsonProblem(text));
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
