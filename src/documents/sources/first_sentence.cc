// The first sentence of a text, and the rest.
#include "documents/masking.h"
#include "documents/pair_source.h"
#include "documents/passages/words.h"

namespace tandem::documents {
namespace {

// Shorter ones are labels ("Key points."), longer ones no queries.
constexpr size_t kFirstSentenceLeastWords = 4, kFirstSentenceMostWords = 64;

void FindFirstSentence(const Document& document, const PairSink& found) {
  const std::string_view sentence = document.Of(FirstSentence(document));
  const size_t words = WordCount(sentence);
  if (words < kFirstSentenceLeastWords || words > kFirstSentenceMostWords) return;
  found({.query = std::string(sentence), .text = RestOf(document)});
}

}  // namespace

extern const PairSource kFirstSentence{
    {.name = "first_sentence",
     .summary = "the first sentence of a document -> the rest of its text",
     .source = "the Inverse Cloze Task (Lee et al. 2019), of the first sentence and never kept in "
               "the text"},
    8,
    FindFirstSentence};

}  // namespace tandem::documents
