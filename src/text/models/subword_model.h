// The third stage of a tokenizer: words to token ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/models/word_cache.h"
#include "text/pre_tokenizers/words.h"

namespace tandem::text {

class SubwordModel {
 public:
  virtual ~SubwordModel() = default;

  // Appends the ids of `words` in order; stops after a word when `ids` has more than `max_ids` in
  // all. Words are valid UTF-8, not empty, and padded (kWordPadding). `cache` has been used with
  // this model only.
  virtual void Tokenize(std::span<const std::string_view> words, size_t max_ids, WordCache* cache,
                        std::vector<int32_t>* ids) const = 0;

  // The id of a token of the model's own vocabulary (not of an added token), or -1.
  virtual int32_t Find(std::string_view token) const = 0;
};

}  // namespace tandem::text
