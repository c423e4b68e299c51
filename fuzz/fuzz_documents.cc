// Documents of any bytes, as Markdown, HTML and plain text: blocks come in order and leave nothing
// out but white space and the bars of rows, what spans name is in the text, sources of pairs find
// what they find, and passages put together are the text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/utf8.h"
#include "documents/html/html_document.h"
#include "documents/pair_source.h"
#include "documents/passages/passages.h"
#include "documents/reading/markdown.h"
#include "documents/reading/plain_text.h"

namespace {

using namespace tandem::documents;  // NOLINT

void Check(bool condition) {
  if (!condition) std::abort();
}

size_t CountTokens(std::string_view text) { return 2 + (text.size() + 3) / 4; }

void CheckSpan(const Document& document, Span span) {
  Check(span.begin <= span.end && span.end <= document.text.size());
  Check(tandem::IsUtf8(document.Of(span)));
}

void CheckDocument(const Document& document) {
  Check(tandem::IsUtf8(document.text) && tandem::IsUtf8(document.title));
  size_t end = 0;
  for (const Block& block : document.blocks) {
    Check(block.span.begin >= end && !block.span.empty());
    CheckSpan(document, block.span);
    Check(Trimmed(document.text, block.span) == block.span);
    Check(Trimmed(document.text, {end, block.span.begin}).empty());
    for (const Span cell : block.cells) CheckSpan(document, cell);
    end = block.span.end;
  }
  Check(Trimmed(document.text, {end, document.text.size()}).empty());
  for (const Link& link : document.links) CheckSpan(document, link.span);
  for (const Span caption : document.captions) CheckSpan(document, caption);
  for (const PairSource* source : PairSources()) {
    source->find(document, [](const FoundPair& pair) {
      Check(tandem::IsUtf8(pair.query) && tandem::IsUtf8(pair.text));
    });
  }
  const PassageCutter cutter({.most_tokens = 24, .overlap = 8}, CountTokens);
  const std::string title = cutter.TitleOf(document);
  end = 0;
  for (const Passage& passage : cutter.Cut(document)) {
    Check(passage.own == end && passage.span.begin <= passage.own);
    const Span text = Trimmed(document.text, passage.span);
    CheckSpan(document, text);
    Check(CountTokens(title) + CountTokens(document.Of(text)) <= 24 + 3);
    end = passage.span.end;
  }
  Check(end == document.text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!tandem::IsUtf8(text)) return 0;
  try {
    CheckDocument(ReadPlainText(text));
    CheckDocument(ReadHtml(text, "fuzz"));
    CheckDocument(ReadMarkdown(text, "fuzz"));
  } catch (const tandem::Error&) {
  }
  return 0;
}
