// `ByteLevel`: words of GPT-2, in byte-level characters.
#pragma once

#include <optional>
#include <string_view>

#include "text/pre_tokenizers/pre_tokenizer.h"
#include "text/regex/regex.h"

namespace tandem::text {

struct ByteLevelOptions {
  bool add_prefix_space = true;  // before a text that does not start with U+0020
  bool use_regex = true;         // cut words as GPT-2 does (kGpt2Pattern)
  // Leave words as they are, for a model that reads its vocabulary as bytes
  // (BpeOptions::words_are_bytes), instead of writing them in byte-level characters.
  bool keep_bytes = false;
};

class ByteLevelPreTokenizer final : public PreTokenizer {
 public:
  explicit ByteLevelPreTokenizer(const ByteLevelOptions& options);

  void Split(std::string_view text, bool first, Words* words) const override;
  // After a cut there is a space already, so that no part but the first gets one.
  Cuts cuts() const override { return regex_ ? Cuts::kAfterAscii : Cuts::kNowhere; }

 private:
  ByteLevelOptions options_;
  std::optional<Regex> regex_;
};

}  // namespace tandem::text
