// `Digits` and `Punctuation`: a text is cut at characters of a kind.
#pragma once

#include <string_view>

#include "text/pre_tokenizers/pre_tokenizer.h"
#include "text/pre_tokenizers/split_behavior.h"

namespace tandem::text {

// `individual_digits`: each digit is a word; otherwise each run of digits. A digit is any number
// that Unicode knows (categories Nd, Nl and No).
class Digits final : public PreTokenizer {
 public:
  explicit Digits(bool individual_digits)
      : behavior_(individual_digits ? SplitBehavior::kIsolated : SplitBehavior::kContiguous) {}

  void Split(std::string_view text, bool first, Words* words) const override;
  Cuts cuts() const override { return Cuts::kNowhere; }
  Cuts cuts_if_later() const override { return Cuts::kAtSpaces; }

 private:
  SplitBehavior behavior_;
};

class Punctuation final : public PreTokenizer {
 public:
  explicit Punctuation(SplitBehavior behavior) : behavior_(behavior) {}

  void Split(std::string_view text, bool first, Words* words) const override;
  Cuts cuts() const override { return Cuts::kNowhere; }
  // A mark that is merged with what follows it may be merged with a space.
  Cuts cuts_if_later() const override {
    return behavior_ == SplitBehavior::kMergedWithNext ? Cuts::kNowhere : Cuts::kAtSpaces;
  }

 private:
  SplitBehavior behavior_;
};

}  // namespace tandem::text
