// Documents that a run has mined for its queries, to draw extra negatives from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sampling/examples.h"
#include "sampling/state.h"

namespace tandem::sampling {

// A list of documents for each query of the Examples, none of which is known for its query (judged,
// or left out of training), nor a copy of one that is. They count as irrelevant: grade 0.
//
// Memory: 4 bytes a query and 4 a document.
class ExtraPool {
 public:
  // Has no documents for any query.
  ExtraPool() = default;
  // Query q has documents[starts[q]] to documents[starts[q + 1] - 1]. Throws std::invalid_argument
  // where `starts` [n + 1] does not rise from 0 to the number of documents, and for a document that
  // does not exist, is known for its query, is a copy of such a one, or comes twice for a query.
  ExtraPool(const Examples& examples, std::vector<uint32_t> starts,
            std::vector<uint32_t> documents);

  bool empty() const { return starts_.empty(); }
  std::span<const uint32_t> of(size_t query) const {
    if (starts_.empty()) return {};
    return std::span(documents_).subspan(starts_[query], starts_[query + 1] - starts_[query]);
  }

  // Adds the arrays "mined/starts" and "mined/documents" to a sampler's state; nothing of an empty
  // pool.
  void Save(SamplerState& state) const;
  // Returns the pool that Save added; an empty pool if it added none. Throws ModelError for arrays
  // that are no pool of `examples`.
  static ExtraPool Restore(const Examples& examples, const SamplerState& state);

 private:
  std::vector<uint32_t> starts_;  // [n + 1], or empty: there is nothing
  std::vector<uint32_t> documents_;
};

}  // namespace tandem::sampling
