#include "data/judgements/run.h"

#include <utility>

#include "base/hashes/text_hash.h"

namespace tandem::data {

const QueryResults* Run::Find(std::string_view query) const {
  const auto index = index_.Find(
      TextHash(query), [&](uint32_t candidate) { return queries_[candidate].query == query; });
  return index ? &queries_[*index] : nullptr;
}

QueryResults& Run::AddQuery(std::string_view query) {
  if (last_ < queries_.size() && queries_[last_].query == query) return queries_[last_];
  if (const QueryResults* found = Find(query)) {
    last_ = static_cast<uint32_t>(found - queries_.data());
    return queries_[last_];
  }
  last_ = static_cast<uint32_t>(queries_.size());
  index_.Insert(TextHash(query), last_);
  queries_.push_back({arena_.Copy(query), {}});
  return queries_[last_];
}

void Run::Append(Run other) {
  for (QueryResults& query : other.queries_) {
    std::vector<ScoredDocument>& results = AddQuery(query.query).results;
    if (results.empty()) {
      results = std::move(query.results);
    } else {
      results.insert(results.end(), query.results.begin(), query.results.end());
    }
  }
  arena_.TakeOver(std::move(other.arena_));
}

}  // namespace tandem::data
