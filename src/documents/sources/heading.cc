// A heading, and the section below it.
#include "documents/masking.h"
#include "documents/pair_source.h"

namespace tandem::documents {
namespace {

void FindHeadings(const Document& document, const PairSink& found) {
  for (const Section& section : SectionsOf(document)) {
    const std::string_view heading = document.Of(document.blocks[section.heading].span);
    if (section.body.empty() || heading.ends_with('?')) continue;  // the source question has these
    std::string query = QueryFrom(document, heading);
    std::string text = MaskedText(document, section.body, query);
    found({.query = std::move(query), .text = std::move(text)});
  }
}

}  // namespace

extern const PairSource kHeading{
    {.name = "heading",
     .summary = "a heading (after the title where it has fewer than three words) -> its section",
     .source = "headings as queries of Wikipedia's sections (TREC CAR, Nanni et al. 2017)"},
    8,
    FindHeadings};

}  // namespace tandem::documents
