// Typed access to the members of a JSON object, with errors that name file and member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/json.h"

namespace tandem {

// Every getter throws DataError where the member is missing, of another type or out of range.
class JsonMembers {
 public:
  // `json` must outlive this. `path` is how errors name the object: "segments.2.".
  JsonMembers(std::string_view file, std::string path, const Json& json);

  bool Has(std::string_view name) const;
  const std::string& Text(std::string_view name, size_t most_bytes = 4096) const;
  uint64_t Count(std::string_view name, uint64_t most) const;
  bool Truth(std::string_view name) const;
  double Number(std::string_view name) const;  // finite
  const Json& Array(std::string_view name, size_t most) const;
  JsonMembers Object(std::string_view name) const;
  const Json& json() const { return json_; }

  // "FILE: `segments.2.rows` is WRONG".
  [[noreturn]] void Fail(std::string_view name, std::string_view wrong) const;

 private:
  const Json& Find(std::string_view name) const;

  std::string_view file_;
  std::string path_;
  const Json& json_;
};

// Parses an object of at most 16 levels; its members are sorted by their keys. Throws DataError.
Json ParseJsonObject(std::string_view text, std::string_view file);

// The value as JSON on one line, of at most `most_bytes`; NaN and infinities as Python writes them.
std::string ShownJson(const Json& value, size_t most_bytes = 80);

}  // namespace tandem
