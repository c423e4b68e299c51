// Typed access to the members of a JSON object, with errors that name file and member. It needs
// nlohmann/json's headers, which installed programs may lack.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
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

// A text that is no JSON; says what is wrong with it, as JsonProblem does.
class JsonTextError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Parses a text as Python's json module does, which reads and writes NaN, Infinity and -Infinity
// and knows no largest number: these become numbers that are not finite. What `keep` says no to is
// left out. Throws JsonTextError.
nlohmann::json ParsePythonJson(std::string_view text,
                               const nlohmann::json::parser_callback_t& keep = nullptr);

// The same with the members of objects in the order of the text.
nlohmann::ordered_json ParseOrderedPythonJson(std::string_view text);

// The value as JSON on one line, of at most `most_bytes`; NaN and infinities as Python writes them.
std::string ShownJson(const nlohmann::json& value, size_t most_bytes = 80);

}  // namespace tandem
