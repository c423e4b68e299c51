// Terms and their definitions, and lines "key: value".
#include <algorithm>

#include "documents/masking.h"
#include "documents/pair_source.h"
#include "documents/passages/words.h"

namespace tandem::documents {
namespace {

constexpr size_t kMostKeyWords = 8;

std::string_view WithoutBullet(std::string_view line) {
  for (const std::string_view bullet : {"- ", "* ", "+ ", "• "}) {
    if (line.starts_with(bullet)) return line.substr(bullet.size());
  }
  return line;
}

// "key: value" on a line of its own; a key has no other colon, no full stop and few words.
void InLine(const Document& document, std::string_view line, const PairSink& found) {
  line = WithoutBullet(line);
  const size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return;
  const std::string_view key = line.substr(0, colon);
  const size_t words = WordCount(key);
  if (words == 0 || words > kMostKeyWords || key.find_first_of(".?!|") != std::string_view::npos) {
    return;
  }
  const Span value = Trimmed(line, {colon + 1, line.size()});
  found({.query = QueryFrom(document, key),
         .text = std::string(line.substr(value.begin, value.size()))});
}

void InLines(const Document& document, std::string_view text, const PairSink& found) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const Span line = Trimmed(text, {begin, end});
    InLine(document, text.substr(line.begin, line.size()), found);
    begin = end + 1;
  }
}

// The definitions that follow a term, one after the other.
void OfTerm(const Document& document, size_t term, const PairSink& found) {
  size_t first = term + 1;
  while (first < document.blocks.size() && document.blocks[first].kind == BlockKind::kTerm) ++first;
  size_t end = first;
  while (end < document.blocks.size() && document.blocks[end].kind == BlockKind::kDefinition) ++end;
  if (end == first) return;
  const std::string query = QueryFrom(document, document.Of(document.blocks[term].span));
  found({.query = query,
         .text = MaskedText(document,
                            {document.blocks[first].span.begin, document.blocks[end - 1].span.end},
                            query)});
}

void FindKeyValues(const Document& document, const PairSink& found) {
  for (size_t b = 0; b < document.blocks.size(); ++b) {
    const Block& block = document.blocks[b];
    if (block.kind == BlockKind::kTerm) OfTerm(document, b, found);
    if (block.kind == BlockKind::kParagraph || block.kind == BlockKind::kListItem) {
      InLines(document, document.Of(block.span), found);
    }
  }
}

}  // namespace

extern const PairSource kKeyValue{
    {.name = "key_value",
     .summary =
         "a term, or the key of a line \"key: value\" (after the title where it has fewer than "
         "three words) -> the definition or value",
     .source = "glossaries and fact sheets"},
    5,
    FindKeyValues};

}  // namespace tandem::documents
