#include "sampling/pairs.h"

#include <limits>
#include <stdexcept>

namespace tandem::sampling {

Pairs::Pairs(const Examples& examples, bool graded_own)
    : examples_(examples), graded_own_(graded_own) {
  if (examples.size() == 0) throw std::invalid_argument("there are no queries to sample");
  firsts_.reserve(examples.size() + 1);
  for (size_t query = 0; query < examples.size(); ++query) {
    const size_t count = pool(query).size();
    if (count == 0) {
      throw std::invalid_argument("a query without own document cannot be sampled");
    }
    if (count > std::numeric_limits<uint32_t>::max() - firsts_.back()) {
      throw std::invalid_argument("there are more than 4,294,967,295 pairs to sample from");
    }
    firsts_.push_back(static_cast<uint32_t>(firsts_.back() + count));
  }
  kept_size_ = size();
}

size_t Pairs::Find(size_t query, uint32_t document) const {
  const JudgedList documents = pool(query);
  for (size_t i = 0; i < documents.size(); ++i) {
    if (documents.document(i) == document) return first(query) + i;
  }
  throw std::invalid_argument("a document is none of its query's own ones");
}

void Pairs::Keep(const std::vector<bool>& kept) {
  if (left_out_.empty()) left_out_.resize(size());
  kept_size_ = 0;
  for (size_t pair = 0; pair < size(); ++pair) {
    left_out_[pair] = left_out_[pair] || !kept[pair];
    kept_size_ += left_out_[pair] ? 0 : 1;
  }
}

size_t Pairs::kept_count(size_t query) const {
  if (left_out_.empty()) return count(query);
  size_t kept = 0;
  for (size_t pair = firsts_[query]; pair < firsts_[query + 1]; ++pair) {
    kept += left_out_[pair] ? 0 : 1;
  }
  return kept;
}

}  // namespace tandem::sampling
