// Parses JSON text into values (base/json/json.h), and says in our words what is wrong with it.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json/json.h"

namespace tandem {

// A text that is no JSON; says what is wrong with it, as JsonProblem does.
class JsonTextError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A text whose arrays and objects lie in each other too deep: "is nested deeper than 16 levels".
class JsonLevelsError : public JsonTextError {
 public:
  explicit JsonLevelsError(size_t most_levels);
};

struct JsonReading {
  // Python's json module reads and writes NaN, Infinity and -Infinity and knows no largest number:
  // these become numbers that are not finite. Otherwise they are faults of the text.
  bool python_numbers = false;
  // Arrays and objects around the innermost value.
  size_t most_levels = 512;
};

// Integers that 64 bits do not hold become doubles. Where members repeat a key, the last counts, at
// the place of the first, as in Python. A byte order mark before the text is passed over. Throws
// JsonTextError.
Json ParseJson(std::string_view text, const JsonReading& reading = {});

// Returns none where ParseJson would throw.
std::optional<Json> ParseIfJson(std::string_view text);

}  // namespace tandem
