// Typed access to the members of a JSON object, with errors that name file and member. It needs
// nlohmann/json's headers, which installed programs may lack.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tandem {

// Every getter throws DataError where the member is missing, of another type or out of range.
class JsonMembers {
 public:
  // `json` must outlive this. `path` is how errors name the object: "segments.2.".
  JsonMembers(std::string_view file, std::string path, const nlohmann::json& json);

  bool Has(std::string_view name) const;
  const std::string& Text(std::string_view name, size_t most_bytes = 4096) const;
  uint64_t Count(std::string_view name, uint64_t most) const;
  bool Truth(std::string_view name) const;
  const nlohmann::json& Array(std::string_view name, size_t most) const;
  JsonMembers Object(std::string_view name) const;
  const nlohmann::json& json() const { return json_; }

  // "FILE: `segments.2.rows` is WRONG".
  [[noreturn]] void Fail(std::string_view name, std::string_view wrong) const;

 private:
  const nlohmann::json& Find(std::string_view name) const;

  std::string_view file_;
  std::string path_;
  const nlohmann::json& json_;
};

// Parses an object of at most 16 levels. Throws DataError.
nlohmann::json ParseJsonObject(std::string_view text, std::string_view file);

}  // namespace tandem
