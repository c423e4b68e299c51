#include "text/pre_tokenizers/byte_level_pre_tokenizer.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "text/regex/known_patterns.h"
#include "text/unicode/byte_level.h"

namespace tandem::text {
namespace {

// `text` after a space, in memory of `words`.
std::string_view WithSpace(std::string_view text, Words* words) {
  char* const copy = words->Reserve(text.size() + 1);
  copy[0] = ' ';
  std::memcpy(copy + 1, text.data(), text.size());
  words->Keep(text.size() + 1);
  return {copy, text.size() + 1};
}

void AddInByteLevel(std::string_view word, Words* words) {
  std::string written;
  AppendByteLevel(word, &written);
  char* const copy = words->Reserve(written.size());
  std::copy(written.begin(), written.end(), copy);
  words->Keep(written.size());
  words->Add(copy, copy + written.size());
}

}  // namespace

ByteLevelPreTokenizer::ByteLevelPreTokenizer(const ByteLevelOptions& options) : options_(options) {
  if (options_.use_regex) regex_.emplace(kGpt2Pattern);
}

void ByteLevelPreTokenizer::Split(std::string_view text, bool, Words* words) const {
  if (text.empty()) return;
  if (options_.add_prefix_space && text.front() != ' ') text = WithSpace(text, words);
  const size_t first = words->size();
  if (regex_) {
    regex_->ForEachMatch(text, [&](size_t begin, size_t end) {
      words->Add(text.data() + begin, text.data() + end);  // together, the matches are the text
    });
  } else {
    words->Add(text);
  }
  if (options_.keep_bytes) return;
  words->ReplaceFrom(first, [&](std::string_view word) { AddInByteLevel(word, words); });
}

}  // namespace tandem::text
