#include "sampling/pairs.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tandem::sampling {

Pairs::Pairs(const Examples& examples, bool graded_own)
    : examples_(examples),
      graded_own_(graded_own),
      table_(std::make_shared<Table>()),
      queries_(examples.size()) {
  if (examples.size() == 0) throw std::invalid_argument("there are no queries to sample");
  std::vector<uint32_t>& firsts = table_->firsts;
  firsts.reserve(examples.size() + 1);
  for (size_t query = 0; query < examples.size(); ++query) {
    const size_t count = pool(query).size();
    if (count == 0) {
      throw std::invalid_argument("a query without a document to be paired with cannot be sampled");
    }
    if (count > std::numeric_limits<uint32_t>::max() - firsts.back()) {
      throw std::invalid_argument("there are more than 4,294,967,295 pairs to sample from");
    }
    firsts.push_back(static_cast<uint32_t>(firsts.back() + count));
  }
  size_ = firsts.back();
}

Pairs Pairs::Part(size_t begin, size_t end) const {
  if (begin >= end || end > queries_) throw std::invalid_argument("a part of no queries");
  Pairs part = *this;
  part.is_part_ = true;
  part.first_query_ = first_query_ + begin;
  part.queries_ = end - begin;
  part.first_pair_ = first_pair_ + first(begin);
  part.size_ = firsts()[end] - firsts()[begin];
  part.left_out_size_ = 0;
  for (size_t pair = 0; pair < part.size_; ++pair) part.left_out_size_ += part.kept(pair) ? 0 : 1;
  return part;
}

size_t Pairs::Find(size_t query, uint32_t document) const {
  const JudgedList documents = pool(query);
  for (size_t i = 0; i < documents.size(); ++i) {
    if (documents.document(i) == document) return first(query) + i;
  }
  throw std::invalid_argument("a document is none that its query can be paired with");
}

void Pairs::Keep(const std::vector<bool>& kept) {
  std::vector<bool>& left_out = table_->left_out;
  if (left_out.empty()) left_out.resize(table_->firsts.back());
  for (size_t pair = 0; pair < size_; ++pair) {
    if (kept[pair] || left_out[first_pair_ + pair]) continue;
    left_out[first_pair_ + pair] = true;
    ++left_out_size_;
    ++table_->left_out_size;
  }
}

size_t Pairs::kept_count(size_t query) const {
  if (table_->left_out.empty()) return count(query);
  size_t kept = 0;
  for (size_t i = 0; i < count(query); ++i) kept += this->kept(first(query) + i) ? 1 : 0;
  return kept;
}

// Hashes the numbers of the pairs that are left out, mixed as splitmix64 does.
uint64_t Pairs::kept_hash() const {
  if (kept_size() == size()) return 0;
  uint64_t hash = size();
  for (size_t pair = 0; pair < size(); ++pair) {
    if (kept(pair)) continue;
    hash += pair + 0x9e3779b97f4a7c15ULL;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
    hash ^= hash >> 31;
  }
  return hash;
}

}  // namespace tandem::sampling
