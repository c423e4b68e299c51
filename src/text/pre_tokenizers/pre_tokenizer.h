// The second stage of a tokenizer: cuts a normal form into words.
#pragma once

#include <string_view>

#include "text/pre_tokenizers/cuts.h"
#include "text/pre_tokenizers/words.h"

namespace tandem::text {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  // Adds the words of `text` (valid UTF-8, padded with kWordPadding readable bytes) to `words`, as
  // views into `text` or into memory of `words`, none of them empty. `first` says whether `text`
  // starts where the text that the user gave starts: no added token and no other part is before it.
  // Where the first word is not a view into `text`, it stands for the beginning of `text`.
  virtual void Split(std::string_view text, bool first, Words* words) const = 0;

  virtual Cuts cuts() const = 0;

  // Says where a text may be cut if a pre-tokenizer after this one ends a word there in any case.
  virtual Cuts cuts_if_later() const { return cuts(); }
};

// Serves `"pre_tokenizer": null`: the whole text is one word.
class NoPreTokenizer final : public PreTokenizer {
 public:
  void Split(std::string_view text, bool, Words* words) const override {
    if (!text.empty()) words->Add(text);
  }
  Cuts cuts() const override { return Cuts::kNowhere; }
};

}  // namespace tandem::text
