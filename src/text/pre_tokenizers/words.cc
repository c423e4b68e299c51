#include "text/pre_tokenizers/words.h"

#include <algorithm>

namespace tandem::text {

char* Words::Reserve(size_t size) {
  const size_t padded = size + kWordPadding;
  while (block_ < blocks_.size() && blocks_[block_].size - used_ < padded) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const size_t bytes = std::max(padded, kBlockBytes);
    blocks_.push_back({std::make_unique<char[]>(bytes), bytes});
  }
  return blocks_[block_].bytes.get() + used_;
}

std::vector<std::string_view> Words::TakeSpare() {
  if (spare_.empty()) return {};
  std::vector<std::string_view> taken = std::move(spare_.back());
  spare_.pop_back();
  return taken;
}

}  // namespace tandem::text
