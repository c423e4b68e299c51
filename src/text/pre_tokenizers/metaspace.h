// `Metaspace`: spaces are written as a visible character, and words start with it.
#pragma once

#include <string>
#include <string_view>

#include "text/pre_tokenizers/pre_tokenizer.h"

namespace tandem::text {

// The fields of the same names in tokenizer.json.
struct MetaspaceOptions {
  enum class Prepend { kAlways, kFirst, kNever };

  std::string replacement = "\xE2\x96\x81";  // U+2581; what U+0020 becomes, one character
  // Says whether a text that does not start with `replacement` gets it: each, that which starts
  // where the user's text starts, or none.
  Prepend prepend_scheme = Prepend::kAlways;
  bool split = true;  // a word starts at each `replacement`; otherwise the whole text is one
};

class Metaspace final : public PreTokenizer {
 public:
  explicit Metaspace(MetaspaceOptions options) : options_(std::move(options)) {}

  void Split(std::string_view text, bool first, Words* words) const override;
  Cuts cuts() const override { return options_.split ? Cuts::kAtSpaces : Cuts::kNowhere; }

 private:
  MetaspaceOptions options_;
};

}  // namespace tandem::text
