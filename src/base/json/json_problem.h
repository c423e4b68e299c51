// Describes in one sentence, with the place, why a parser has refused a text as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tandem {

// Says what is wrong with a whole text, such as a file of settings: "is not valid JSON: line 3,
// column 5: a comma before }, after which nothing comes". Columns count characters, from 1. Where
// no fault is found (a parser's limits are narrower) it says "is not valid JSON".
std::string JsonProblem(std::string_view text);

// JsonProblem without its start: "line 3, column 5, in `input[1]`: ...". A text of one line gets no
// line number. It is empty where no fault is found.
std::string JsonFaultText(std::string_view text);

// The file and the line in it that a line of JSON lines comes from.
struct JsonLinePlace {
  std::string_view file;  // for commands that a message names
  bool has_end = true;    // a line end comes after it
  bool is_first = false;  // of the file
};

// Says what is wrong with a line that should be one object (broken JSON, another value, columns, a
// page): "is not valid JSON: column 21: ...", "begins a JSON array; expected ...".
std::string JsonLineProblem(std::string_view line, const JsonLinePlace& place);

// Says where a text is not valid UTF-8: "is not valid UTF-8: the byte 0xE9 at column 12; ...".
// It is empty where the text is valid.
std::string Utf8Problem(std::string_view text);

// `json`, which a parser has refused for its numbers, with each that 64 bits or a double do not
// hold replaced by something of the same length: an integer by one whose last two digits are an
// exponent, what a double does not hold by {}, which is no number to any reader. Members that
// nobody reads then do no harm. Gives nothing where numbers are not at fault.
std::optional<std::string> WithNumbersThatFit(std::string_view json);

}  // namespace tandem
