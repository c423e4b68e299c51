#include "data/lines/json_text.h"

#include <fmt/format.h>

#include <iterator>

#include "base/error.h"
#include "base/utf8.h"

namespace tandem::data {
namespace {

constexpr std::string_view kLineSeparator = "\xE2\x80\xA8";       // U+2028
constexpr std::string_view kParagraphSeparator = "\xE2\x80\xA9";  // U+2029

struct Escape {
  size_t bytes = 0;  // of the text that it stands for; 0: none, the byte stands for itself
  std::string_view text;
};

Escape NamedEscape(char c) {
  switch (c) {
    case '"':
      return {1, "\\\""};
    case '\\':
      return {1, "\\\\"};
    case '\n':
      return {1, "\\n"};
    case '\r':
      return {1, "\\r"};
    case '\t':
      return {1, "\\t"};
    default:
      return {};
  }
}

Escape EscapeAt(std::string_view text) {
  if (text.starts_with(kLineSeparator)) return {kLineSeparator.size(), "\\u2028"};
  if (text.starts_with(kParagraphSeparator)) return {kParagraphSeparator.size(), "\\u2029"};
  return NamedEscape(text.front());
}

// Says whether an escape may begin with this byte.
bool MayNeedEscape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' ||
         c == kLineSeparator.front();
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text, std::string_view id) {
  if (!IsUtf8(text)) {
    throw DataError("text", 0, id, "is not valid UTF-8, which JSON needs");
  }
  out += '"';
  size_t written = 0;  // bytes of the text that `out` has
  for (size_t at = 0; at < text.size(); ++at) {
    if (!MayNeedEscape(text[at])) continue;
    const Escape escape = EscapeAt(text.substr(at));
    const bool is_control = static_cast<unsigned char>(text[at]) < 0x20;
    if (escape.bytes == 0 && !is_control) continue;
    out.append(text, written, at - written);
    if (escape.bytes > 0) {
      out += escape.text;
      at += escape.bytes - 1;
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(text[at]));
    }
    written = at + 1;
  }
  out.append(text, written);
  out += '"';
}

void AppendJsonNumber(std::string& out, double number) {
  fmt::format_to(std::back_inserter(out), "{}", number);
}

}  // namespace tandem::data
