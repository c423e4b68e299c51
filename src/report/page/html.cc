#include "report/page/html.h"

#include "base/utf8.h"

namespace tandem::report {
namespace {

// Says whether a character may change how others are shown, or is none that HTML allows.
bool IsUnsafe(char32_t c) {
  if (c < 0x20) return c != '\t' && c != '\n';
  if (c >= 0x7F && c <= 0x9F) return true;
  const bool directional = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  const bool noncharacter = (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF);
  return directional || noncharacter;
}

std::string_view ReferenceOf(char32_t c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

}  // namespace

std::string CleanText(std::string_view text) {
  const std::string valid = RepairUtf8(text);
  std::string clean;
  clean.reserve(valid.size());
  const char* p = valid.data();
  const char* const end = p + valid.size();
  while (p < end) {
    const char* const start = p;
    const char32_t c = NextCodePoint(p);
    if (IsUnsafe(c)) {
      AppendUtf8(0xFFFD, &clean);
    } else {
      clean.append(start, p);
    }
  }
  return clean;
}

std::string EscapedText(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 8);
  for (const char c : CleanText(text)) {
    const std::string_view reference = ReferenceOf(static_cast<unsigned char>(c));
    if (reference.empty()) {
      escaped += c;
    } else {
      escaped += reference;
    }
  }
  return escaped;
}

void Html::Open(std::string_view tag, Attributes attributes) {
  bytes_ += '<';
  bytes_ += tag;
  for (const Attribute& attribute : attributes) {
    bytes_ += ' ';
    bytes_ += attribute.name;
    bytes_ += "=\"";
    bytes_ += EscapedText(attribute.value);
    bytes_ += '"';
  }
  bytes_ += '>';
}

void Html::In(std::string_view tag, Attributes attributes, const Content& content) {
  Open(tag, attributes);
  content();
  bytes_ += "</";
  bytes_ += tag;
  bytes_ += '>';
}

void Html::Element(std::string_view tag, Attributes attributes, std::string_view text) {
  In(tag, attributes, [&] { Text(text); });
}

void Html::Void(std::string_view tag, Attributes attributes) { Open(tag, attributes); }

}  // namespace tandem::report
