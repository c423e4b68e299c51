// A text, its id and its metadata in a JSON line: what TextStream and TextInput read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/input/line_reader.h"
#include "data/lines/json_line.h"
#include "data/texts/text_role.h"

namespace tandem::data {

// The keys of a line's text and id.
struct TextKeys {
  TextRole role = TextRole::kDocument;
  std::string id = "_id";  // "": lines have no id
  std::string text = "text";
  // Says whether a user chose the keys with --id-field and --text-field; messages then name these.
  bool chosen_by_flags = false;
};

struct JsonText {
  std::string_view id;
  std::string_view text;
  size_t title_bytes = 0;
};

class JsonTexts {
 public:
  explicit JsonTexts(TextKeys keys) : keys_(std::move(keys)) {}

  // Reads the text in `line`, which `reader.Next` gave; the result is valid until the next call.
  // Throws DataError. Without an id of its own the text gets `default_id`.
  JsonText Read(const LineReader& reader, std::string_view line, std::string_view default_id = {});

  // The value under `key` of the line that was read last, or under `key` of its object `metadata`;
  // null where neither has it, or null. Throws DataError where `metadata` is no object.
  const JsonField* FindMetadata(const LineReader& reader, std::string_view key);

 private:
  std::string_view Id(const LineReader& reader) const;
  [[noreturn]] void ThrowMissing(const LineReader& reader, std::string_view key,
                                 std::string_view id) const;

  TextKeys keys_;
  JsonLineParser parser_;
  std::span<const JsonField> fields_;   // of the last line
  std::span<const JsonField> members_;  // of its object `metadata`, once somebody asked
  bool has_members_ = false;
  std::string joined_;
};

}  // namespace tandem::data
