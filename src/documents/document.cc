#include "documents/document.h"

#include <algorithm>

namespace tandem::documents {

Span Trimmed(std::string_view text, Span span) {
  while (span.begin < span.end && IsWhiteSpace(text[span.begin])) ++span.begin;
  while (span.end > span.begin && IsWhiteSpace(text[span.end - 1])) --span.end;
  return span;
}

std::vector<Section> SectionsOf(const Document& document) {
  std::vector<Section> sections;
  std::vector<size_t> open;  // of `sections`, from higher to lower levels
  const auto close = [&](int level, size_t end) {
    while (!open.empty() && document.blocks[sections[open.back()].heading].level >= level) {
      Section& section = sections[open.back()];
      section.body = Trimmed(document.text, {section.body.begin, end});
      open.pop_back();
    }
  };
  for (size_t i = 0; i < document.blocks.size(); ++i) {
    const Block& block = document.blocks[i];
    if (block.kind != BlockKind::kHeading) continue;
    close(block.level, block.span.begin);
    open.push_back(sections.size());
    sections.push_back({.heading = i, .body = {block.span.end, block.span.end}});
  }
  close(0, document.text.size());
  return sections;
}

std::vector<Block> ParagraphsOf(std::string_view text) {
  std::vector<Block> blocks;
  size_t begin = 0;  // of the paragraph
  const auto add = [&](size_t end) {
    const Span span = Trimmed(text, {begin, end});
    if (!span.empty()) blocks.push_back({.span = span});
  };
  for (size_t line = 0; line < text.size();) {
    const size_t end = std::min(text.find('\n', line), text.size());
    if (Trimmed(text, {line, end}).empty()) {
      add(line);
      begin = end;
    }
    line = end + 1;
  }
  add(text.size());
  return blocks;
}

}  // namespace tandem::documents
