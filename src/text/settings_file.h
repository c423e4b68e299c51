// The small JSON files of settings that lie beside a tokenizer. For source files of this room only.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::text {

// One file of settings; an absent file has none. nlohmann-json reads it, since these files hold
// integers such as 1000000000000000019884624838656 that simdjson refuses.
class SettingsFile {
 public:
  // Throws ModelError when the file exists and is not a JSON object.
  explicit SettingsFile(const std::filesystem::path& path);
  ~SettingsFile();

  // Nothing where the setting is absent or null; ModelError where it has another type.
  std::optional<bool> Boolean(std::string_view name) const;
  // The name of a token: a string, or an object with the string "content".
  std::optional<std::string> Token(std::string_view name) const;

 private:
  const nlohmann::json* Find(std::string_view name) const;
  [[noreturn]] void Fail(std::string_view name, std::string_view expected) const;

  std::string file_;
  std::unique_ptr<nlohmann::json> json_;  // an object
};

}  // namespace tandem::text
