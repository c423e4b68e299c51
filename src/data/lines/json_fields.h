// Ids and texts in JSON lines, as every reader takes them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/input/line_reader.h"
#include "data/lines/json_line.h"

namespace tandem::data {

// The id under `key`: a string, or an integer in decimal. Throws DataError where it is missing, of
// another type, empty, or holds a control character: tabs and line ends would break every file that
// ids are written to.
std::string_view RequireId(const LineReader& reader, std::span<const JsonField> fields,
                           std::string_view key);

// Throws DataError for an id that is empty or holds a control character; `key` is where it stands.
void CheckId(const LineReader& reader, std::string_view id, std::string_view key);

// The string under `key` of the object with that id. Throws DataError where it is missing or of
// another type.
std::string_view RequireText(const LineReader& reader, std::span<const JsonField> fields,
                             std::string_view key, std::string_view id);

// A document's text and how many of its first bytes are the title.
struct DocumentText {
  std::string_view text;
  size_t title_bytes = 0;
};

// "title text" where there is a title that is not empty, else "text"; a null title, as some
// exporters write it, is none. `joined` holds a text that was put together.
DocumentText RequireDocumentText(const LineReader& reader, std::span<const JsonField> fields,
                                 std::string_view id, std::string* joined,
                                 std::string_view text_key = "text");

// The two joined; without a title the text alone.
DocumentText JoinTitle(std::string_view title, std::string_view text, std::string* joined);

}  // namespace tandem::data
