#include "text/pre_tokenizers/metaspace.h"

#include <algorithm>
#include <cstring>

namespace tandem::text {

void Metaspace::Split(std::string_view text, bool first, Words* words) const {
  using Prepend = MetaspaceOptions::Prepend;
  if (text.empty()) return;
  const std::string_view mark = options_.replacement;
  const auto spaces = static_cast<size_t>(std::count(text.begin(), text.end(), ' '));
  char* const begin = words->Reserve(text.size() + (spaces + 1) * mark.size());
  char* out = begin;
  const char* word = begin;
  const auto put_mark = [&] {
    if (options_.split && word < out) words->Add(word, out);
    if (options_.split) word = out;
    std::memcpy(out, mark.data(), mark.size());
    out += mark.size();
  };
  const bool prepend = options_.prepend_scheme == Prepend::kAlways ||
                       (options_.prepend_scheme == Prepend::kFirst && first);
  if (prepend && text.front() != ' ' && !text.starts_with(mark)) put_mark();
  while (!text.empty()) {
    if (text.front() == ' ') {
      put_mark();
      text.remove_prefix(1);
    } else if (text.front() == mark.front() && text.starts_with(mark)) {
      put_mark();
      text.remove_prefix(mark.size());
    } else {
      *out++ = text.front();
      text.remove_prefix(1);
    }
  }
  words->Add(word, out);
  words->Keep(static_cast<size_t>(out - begin));
}

}  // namespace tandem::text
