// The title of a document, and its text.
#include "documents/masking.h"
#include "documents/pair_source.h"
#include "documents/passages/words.h"

namespace tandem::documents {
namespace {

constexpr size_t kTitleLeastWords = 8;

// The text without its first sentence, as the source first_sentence has it, so that both queries of
// a document have one text; a text of one sentence whole.
void FindTitle(const Document& document, const PairSink& found) {
  if (document.title.empty()) return;
  std::string text = RestOf(document);
  if (WordCount(text) < kTitleLeastWords) {
    text = MaskedText(document, {0, document.text.size()}, document.title);
  }
  found({.query = document.title, .text = std::move(text)});
}

}  // namespace

extern const PairSource kTitle{
    {.name = "title",
     .summary = "the title of a document -> its text, without the first sentence and without "
                "sentences that say the title",
     .source = "pairs of titles and texts (E5, Wang et al. 2022)"},
    kTitleLeastWords,
    FindTitle};

}  // namespace tandem::documents
