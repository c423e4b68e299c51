// Where sentences end.
//
// A small rule after Unicode's UAX 29, sentence boundaries: a sentence ends after one of . ! ? …
// and the full stops of other scripts, and the quotes and brackets after it, where white space
// follows (after those of Chinese and Japanese, none is needed). As in UAX 29 it goes on where the
// next letter is a lower-case one. It differs: a stop with white space before it ends a sentence
// whatever follows (texts that were cut into words have " . "); a full stop after a single letter
// (an initial), after a number that begins a line ("1. ") or after one of some English
// abbreviations ("e.g.", "Dr.") ends none, and a line end alone ends none, since lines of a
// paragraph may be cut anywhere.
#pragma once

#include <string_view>
#include <vector>

#include "documents/document.h"

namespace tandem::documents {

// The sentences of text[within], trimmed and not empty, in order; what lies between them is white
// space. A blank line ends a sentence. `text` is valid UTF-8.
std::vector<Span> SentencesOf(std::string_view text, Span within);

// The sentences of a document: those of its blocks. A heading, a row and a term is one, whatever it
// holds.
std::vector<Span> SentencesOf(const Document& document);

}  // namespace tandem::documents
