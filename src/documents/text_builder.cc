#include "documents/text_builder.h"

#include <utility>

namespace tandem::documents {
namespace {

constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
constexpr std::string_view kBar = " | ";  // between cells

}  // namespace

void TextBuilder::Open(const Block& block) {
  Close();
  next_ = {.kind = block.kind, .level = block.level, .group = block.group, .header = block.header};
}

void TextBuilder::Close() {
  if (has_block_) {
    Block& block = document_.blocks.back();
    block.span = Trimmed(document_.text, {block.span.begin, document_.text.size()});
    document_.text.resize(block.span.end);
    block.cells = std::move(cells_);
  }
  has_block_ = space_ = line_ = bar_ = false;
  cells_.clear();
  next_ = {};
}

void TextBuilder::Separate() {
  std::string& text = document_.text;
  if (!has_block_) {
    if (!document_.blocks.empty()) {
      const size_t before = document_.blocks.back().group;
      text += next_.group != 0 && before == next_.group ? "\n" : "\n\n";
    }
    document_.blocks.push_back(next_);
    document_.blocks.back().span = {text.size(), text.size()};
    has_block_ = true;
  } else if (bar_) {
    text += kBar;
  } else if (line_) {
    text += '\n';
  } else if (space_) {
    text += ' ';
  }
  space_ = line_ = bar_ = false;
}

void TextBuilder::Text(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    if (IsWhiteSpace(text[i])) {
      space_ = true;
      ++i;
    } else if (text.substr(i, kNoBreakSpace.size()) == kNoBreakSpace) {
      space_ = true;
      i += kNoBreakSpace.size();
    } else {
      size_t end = i;
      while (end < text.size() && !IsWhiteSpace(text[end]) &&
             text.substr(end, kNoBreakSpace.size()) != kNoBreakSpace) {
        ++end;
      }
      Separate();
      document_.text.append(text.substr(i, end - i));
      i = end;
    }
  }
}

void TextBuilder::Preformatted(std::string_view text) {
  if (!has_block_) {
    while (!text.empty() && (text.front() == '\n' || text.front() == '\r')) text.remove_prefix(1);
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
  }
  Separate();
  for (const char c : text) {
    if (c != '\r') document_.text += c;
  }
}

Span TextBuilder::Since(size_t begin) const {
  Span span{begin, document_.text.size()};
  if (document_.Of(span).starts_with(kBar)) span.begin += kBar.size();
  return Trimmed(document_.text, span);
}

void TextBuilder::BeginCell() {
  space_ = line_ = false;
  bar_ = has_block_;
  cell_ = document_.text.size();
}

void TextBuilder::EndCell() {
  cells_.push_back(Since(cell_));
  space_ = line_ = bar_ = false;
}

}  // namespace tandem::documents
