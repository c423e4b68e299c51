// `Sequence` of pre-tokenizers: each cuts the words that the one before it made.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "text/pre_tokenizers/pre_tokenizer.h"

namespace tandem::text {

// An empty list leaves the text one word.
class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<std::unique_ptr<const PreTokenizer>> stages)
      : stages_(std::move(stages)) {}

  void Split(std::string_view text, bool first, Words* words) const override;

  // The first stage that ends a word at each cut decides; no stage after it sees what lies on both
  // sides of one.
  Cuts cuts() const override;

 private:
  std::vector<std::unique_ptr<const PreTokenizer>> stages_;
};

}  // namespace tandem::text
