// The last stage of a tokenizer: the special tokens around a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::text {

// The ids that `TemplateProcessing` and `BertProcessing` put around a single text.
struct SpecialTokens {
  std::vector<int32_t> before;  // [CLS]
  std::vector<int32_t> after;   // [SEP]

  size_t size() const { return before.size() + after.size(); }
};

}  // namespace tandem::text
