// Cuts documents into passages that a model reads whole.
//
// Passages end between sentences; a sentence that is too long is cut between words, a word that is
// too long between characters. A section begins a passage of its own where it does not fit into the
// rest of the last one and that is at least half full; a heading never ends a passage. With overlap
// a passage begins with the last sentences of the one before, from the same section.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/document.h"

namespace tandem::documents {

// Says how many tokens a model makes of a document's text, special tokens and prompt counted.
using TokenCount = std::function<size_t(std::string_view text)>;

struct PassageOptions {
  size_t most_tokens = 256;  // of a passage with its title, special tokens and prompt
  size_t overlap = 0;        // tokens of the passage before, at most
};

struct Passage {
  Span span;       // of the document's text, with the overlap
  size_t own = 0;  // where what no passage before has begins
};

// A passage has room for at least so many tokens besides special tokens, prompt and title.
inline constexpr size_t kLeastPassageTokens = 8;

class PassageCutter {
 public:
  // Throws UsageError where `most_tokens` leaves no room beside special tokens and prompt, and for
  // an overlap of more than half of them.
  PassageCutter(const PassageOptions& options, TokenCount count);

  // The document's title as its passages carry it: cut between words where it would take more than
  // a quarter of the tokens; "" where not even a word fits.
  std::string TitleOf(const Document& document) const;

  // At least one passage. The own parts [own, span.end) follow each other and make the whole text.
  // With TitleOf before it and without white space at its ends, no passage has more than
  // most_tokens. `document.text` is valid UTF-8.
  std::vector<Passage> Cut(const Document& document) const;

 private:
  PassageOptions options_;
  TokenCount count_;
  size_t fixed_ = 0;  // tokens of an empty text
};

}  // namespace tandem::documents
