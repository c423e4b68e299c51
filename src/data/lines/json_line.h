// One JSON object per line, the base of every .jsonl format.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/input/line_reader.h"

namespace tandem::data {

struct JsonField {
  enum class Kind {
    kString,
    kInteger,
    kNumber,
    kBoolean,
    kStrings,      // a list of them, or an empty list
    kNumbers,      // a list of at least one number
    kValues,       // a list of other scalars: booleans, nulls, or several of these kinds
    kNumberLists,  // a list of lists of numbers, one list at least; nulls among them are empty
    kObjects,      // a list of objects without keys that come twice, one object at least; nulls
                   // among them are empty objects
    kNull,
    kOther
  };
  using Object = std::vector<JsonField>;

  std::string_view key;
  Kind kind = Kind::kOther;
  std::string_view text;               // kString: the value; kInteger: its decimal digits
  double number = 0;                   // kInteger, kNumber; kBoolean: 1 for true
  std::vector<std::string_view> list;  // kStrings
  std::vector<double> numbers;         // kNumbers
  std::vector<JsonField> values;       // kValues
  std::vector<std::vector<double>> number_lists;  // kNumberLists
  std::vector<Object> objects;                    // kObjects

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kNumber; }
  bool is_empty_list() const { return kind == Kind::kStrings && list.empty(); }
};

class JsonLineParser {
 public:
  // Fields of the names `passed_over` are not read, wherever they stand in a line.
  explicit JsonLineParser(std::vector<std::string> passed_over = {});
  ~JsonLineParser();

  // The fields of the object on `line`, which `reader.Next` gave; valid until the next call. Throws
  // DataError at the reader's line for broken JSON, invalid UTF-8, anything but an object, and a
  // key that comes twice.
  std::span<const JsonField> Parse(const LineReader& reader, std::string_view line);

  // The fields of the object under `key` of the line that was parsed last; none where the key is
  // missing or null. Valid until the next call of Parse or Members. Throws DataError where
  // something else stands there, and for a key that comes twice in it.
  std::span<const JsonField> Members(const LineReader& reader, std::string_view key);

 private:
  struct State;  // keeps simdjson out of this header
  std::unique_ptr<State> state_;
  std::vector<JsonField> fields_;
  size_t used_ = 0;  // fields of the current line; later ones are kept to reuse their memory
  std::vector<JsonField> members_;
};

// The field of that name, or null.
const JsonField* FindField(std::span<const JsonField> fields, std::string_view key);

// Says whether a line gives `field`. Null counts as not given, since exporters write it for that.
inline bool IsGiven(const JsonField* field) {
  return field != nullptr && field->kind != JsonField::Kind::kNull;
}

// "a string", "a number", ... for messages.
std::string_view KindName(JsonField::Kind kind);

}  // namespace tandem::data
