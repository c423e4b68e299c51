#include "text/pre_tokenizers/pattern_split.h"

#include <utility>

namespace tandem::text {

PatternSplit::PatternSplit(std::string_view pattern, const PatternSplitOptions& options)
    : PatternSplit(Regex(pattern), options) {
  const bool words = options.behavior == SplitBehavior::kIsolated && !options.invert;
  if (words) cuts_ = CutsOf(pattern);
}

PatternSplit::PatternSplit(Regex regex, const PatternSplitOptions& options)
    : regex_(std::move(regex)), options_(options) {}

void PatternSplit::Split(std::string_view text, bool, Words* words) const {
  if (text.empty()) return;
  SplitWords parts(text, options_.behavior, options_.invert, words);
  regex_.ForEachMatch(text, [&](size_t begin, size_t end) { parts.Match(begin, end); });
  parts.Finish();
}

}  // namespace tandem::text
