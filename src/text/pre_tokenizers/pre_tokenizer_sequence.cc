#include "text/pre_tokenizers/pre_tokenizer_sequence.h"

#include <functional>

namespace tandem::text {
namespace {

bool LiesIn(const char* place, std::string_view text) {
  const std::less_equal<const char*> before;
  return before(text.data(), place) && before(place, text.data() + text.size());
}

// Splits a text, which starts where the user's text starts; returns whether its first word does.
bool SplitFirst(const PreTokenizer& stage, std::string_view text, Words* words) {
  const size_t begin = words->size();
  stage.Split(text, true, words);
  if (words->size() == begin) return false;
  // A word that was written anew stands for the beginning of its text.
  const char* const start = words->views()[begin].data();
  return start == text.data() || !LiesIn(start, text);
}

}  // namespace

Cuts PreTokenizerSequence::cuts() const {
  Cuts before = Cuts::kAtSpaces;
  for (const auto& stage : stages_) {
    if (stage->cuts() != Cuts::kNowhere) return Both(before, stage->cuts());
    before = Both(before, stage->cuts_if_later());
  }
  return Cuts::kNowhere;
}

void PreTokenizerSequence::Split(std::string_view text, bool first, Words* words) const {
  if (text.empty()) return;
  const size_t begin = words->size();
  words->Add(text);
  for (const auto& stage : stages_) {
    bool started = !first;
    words->ReplaceFrom(begin, [&](std::string_view word) {
      if (started) {
        stage->Split(word, false, words);
      } else {
        first = SplitFirst(*stage, word, words);
      }
      started = true;
    });
  }
}

}  // namespace tandem::text
