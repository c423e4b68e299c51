// Texts without what gives them away: a model that is trained to find a text by words that it has
// whole learns to compare words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/document.h"

namespace tandem::documents {

// A sentence that holds so many words of a query, all of them and side by side, gives it away.
// Shorter queries are names, which a text about them has to call.
inline constexpr size_t kGiveawayWords = 3;

// The document's text within `body`, without the spans `left_out` and without sentences that have
// all words of `query` side by side, in any case, where it has kGiveawayWords or more.
std::string MaskedText(const Document& document, Span body, std::string_view query,
                       std::vector<Span> left_out = {});

// What answers a document's title and its first sentence: the text without that sentence and
// without those that have the title's words (as MaskedText). Without a second sentence "".
std::string RestOf(const Document& document);

// The first sentence of the text that is no heading; empty where there is none.
Span FirstSentence(const Document& document);

// `words` as a query: after the document's title ("Gloves: care") where they are fewer than three,
// which seldom say what they are about.
std::string QueryFrom(const Document& document, std::string_view words);

// The blocks that begin in `span`, by their numbers: [first, end).
struct BlockRange {
  size_t first = 0, end = 0;
};
BlockRange BlocksIn(const Document& document, Span span);

}  // namespace tandem::documents
