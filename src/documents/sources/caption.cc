// What is written below a figure, a table or in place of an image, and the section around it.
#include <algorithm>

#include "documents/masking.h"
#include "documents/pair_source.h"
#include "documents/passages/words.h"

namespace tandem::documents {
namespace {

constexpr size_t kLeastCaptionWords = 3;

// The innermost section that holds the span; the whole text without one.
Span SectionAround(const Document& document, const std::vector<Section>& sections, Span span) {
  Span around{0, document.text.size()};
  for (const Section& section : sections) {
    if (section.body.begin <= span.begin && span.end <= section.body.end) around = section.body;
  }
  return around;
}

void FindCaptions(const Document& document, const PairSink& found) {
  if (document.captions.empty()) return;
  const std::vector<Section> sections = SectionsOf(document);
  for (const Span caption : document.captions) {
    if (WordCount(document.Of(caption)) < kLeastCaptionWords) continue;
    const std::string query(document.Of(caption));
    found({.query = query,
           .text =
               MaskedText(document, SectionAround(document, sections, caption), query, {caption})});
  }
}

}  // namespace

extern const PairSource kCaption{
    {.name = "caption",
     .summary = "the caption of a figure or table, or an image's text -> the section around it",
     .source = "captions with the text around them (WIT, Srinivasan et al. 2021)"},
    8,
    FindCaptions};

}  // namespace tandem::documents
