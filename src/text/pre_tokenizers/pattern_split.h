// `Split`: a text is cut where a pattern matches.
#pragma once

#include <memory>
#include <string_view>

#include "text/pre_tokenizers/pre_tokenizer.h"
#include "text/pre_tokenizers/split_behavior.h"
#include "text/regex/known_patterns.h"
#include "text/regex/regex.h"

namespace tandem::text {

// The fields of the same names in tokenizer.json.
struct PatternSplitOptions {
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false;
};

class PatternSplit final : public PreTokenizer {
 public:
  // Throws PatternError where `pattern` is not supported.
  PatternSplit(std::string_view pattern, const PatternSplitOptions& options);
  PatternSplit(Regex regex, const PatternSplitOptions& options);

  void Split(std::string_view text, bool first, Words* words) const override;
  Cuts cuts() const override { return cuts_.cuts; }
  Cuts cuts_if_later() const override { return cuts_.cuts_if_later; }

 private:
  Regex regex_;
  PatternSplitOptions options_;
  PatternCuts cuts_;
};

}  // namespace tandem::text
