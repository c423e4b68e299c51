// The last stage of a tokenizer: the special tokens around a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/post_processors/pair_template.h"

namespace tandem::text {

// The ids that a post-processor puts around a single text, and how it joins two.
struct SpecialTokens {
  std::vector<int32_t> before;  // [CLS]
  std::vector<int32_t> after;   // [SEP]
  PairTemplate pair;            // empty: two texts cannot be joined

  size_t size() const { return before.size() + after.size(); }
};

}  // namespace tandem::text
