#include "documents/reading/plain_text.h"

#include <algorithm>
#include <string>

namespace tandem::documents {

Document ReadPlainText(std::string_view text) {
  Document document;
  std::string unix_lines(text);
  for (size_t i = 0; i < unix_lines.size(); ++i) {
    const bool alone = i + 1 == unix_lines.size() || unix_lines[i + 1] != '\n';
    if (unix_lines[i] == '\r' && alone) unix_lines[i] = '\n';
  }
  std::erase(unix_lines, '\r');
  const Span all = Trimmed(unix_lines, {0, unix_lines.size()});
  std::string_view rest = std::string_view(unix_lines).substr(all.begin, all.size());
  const size_t end = rest.find('\n');
  const std::string_view first = rest.substr(0, end);
  const Span title = Trimmed(first, {0, first.size()});
  if (end != std::string_view::npos && title.size() <= kMostTitleBytes &&
      std::string_view(".:;,!?").find(first[title.end - 1]) == std::string_view::npos) {
    const size_t next = rest.find('\n', end + 1);
    if (Trimmed(rest, {end + 1, std::min(next, rest.size())}).empty()) {
      document.title = first.substr(title.begin, title.size());
      const Span body = Trimmed(rest, {end, rest.size()});
      rest = rest.substr(body.begin, body.size());
    }
  }
  document.text = rest;
  document.blocks = ParagraphsOf(document.text);
  return document;
}

}  // namespace tandem::documents
