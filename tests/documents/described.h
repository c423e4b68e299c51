// A document as lines that tests compare.
#pragma once

#include <string>

#include "documents/document.h"

namespace tandem::documents {

// "heading2|First steps" and so on for each block; the cells of a row in brackets.
inline std::string Described(const Document& document) {
  const auto name = [](BlockKind kind) -> std::string {
    switch (kind) {
      case BlockKind::kHeading:
        return "heading";
      case BlockKind::kParagraph:
        return "paragraph";
      case BlockKind::kListItem:
        return "item";
      case BlockKind::kTableRow:
        return "row";
      case BlockKind::kCaption:
        return "caption";
      case BlockKind::kTerm:
        return "term";
      case BlockKind::kDefinition:
        return "definition";
      case BlockKind::kCode:
        return "code";
    }
    return "";
  };
  std::string lines;
  for (const Block& block : document.blocks) {
    lines += name(block.kind);
    if (block.level > 0) lines += std::to_string(block.level);
    if (block.header) lines += "*";
    lines.append("|").append(document.Of(block.span));
    for (const Span cell : block.cells) lines.append("[").append(document.Of(cell)).append("]");
    lines += '\n';
  }
  return lines;
}

}  // namespace tandem::documents
