// The small JSON files of settings beside a tokenizer. Only source files of this room include it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "text/load/known_files.h"

namespace tandem::text {

// One file of settings; an absent file has none. Numbers are read as Python reads them: these files
// hold integers such as 1000000000000000019884624838656.
class JsonSettings {
 public:
  // Throws ModelError when the file exists and is not a JSON object. It is read as Python reads
  // it (base/json/json_reader.h).
  explicit JsonSettings(const std::filesystem::path& path, const KnownFiles& known = {});

  // Returns nothing where the setting is absent or null; ModelError where it is not a string.
  std::optional<std::string> Text(std::string_view name) const;
  // The whole object, its members in the order of the file.
  const Json& values() const { return json_; }

 private:
  std::string file_;
  Json json_ = Json::object();
};

}  // namespace tandem::text
