#include "model/prompt_lengths.h"

#include <vector>

namespace tandem::model {

PromptLengths::PromptLengths(const text::Tokenizer& tokenizer, size_t max_tokens)
    : tokenizer_(tokenizer), max_tokens_(max_tokens) {
  std::vector<int32_t> ids;
  tokenizer.Encode("", 0, &ids);
  end_ = ids.empty() ? -1 : ids.back();
}

int32_t PromptLengths::Of(std::string_view prompt) {
  if (prompt.empty()) return 0;
  const auto found = lengths_.find(prompt);
  if (found != lengths_.end()) return found->second;
  std::vector<int32_t> ids;
  tokenizer_.Encode(prompt, max_tokens_, &ids);
  const bool ended = !ids.empty() && ids.back() == end_;
  const auto length = static_cast<int32_t>(ids.size()) - (ended ? 1 : 0);
  lengths_.emplace(prompt, length);
  return length;
}

}  // namespace tandem::model
