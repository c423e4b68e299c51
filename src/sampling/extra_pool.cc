#include "sampling/extra_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.h"

namespace tandem::sampling {
namespace {

constexpr const char* kStarts = "mined/starts";
constexpr const char* kDocuments = "mined/documents";

// Throws where a document of `pool` cannot be one of a query's.
void CheckDocuments(const Examples& examples, size_t query, std::span<const uint32_t> pool) {
  std::vector<uint64_t> known;
  for (const Judged& one : examples.known(query)) {
    known.push_back(examples.document_hash(one.document));
  }
  std::sort(known.begin(), known.end());
  std::vector<uint32_t> seen(pool.begin(), pool.end());
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) != seen.end()) {
    throw std::invalid_argument("a document is mined twice for one query");
  }
  for (const uint32_t document : seen) {
    if (document >= examples.documents()) {
      throw std::invalid_argument("a mined document is not among the documents");
    }
    if (std::binary_search(known.begin(), known.end(), examples.document_hash(document))) {
      throw std::invalid_argument("a mined document is known for its query");
    }
  }
}

}  // namespace

ExtraPool::ExtraPool(const Examples& examples, std::vector<uint32_t> starts,
                     std::vector<uint32_t> documents)
    : starts_(std::move(starts)), documents_(std::move(documents)) {
  if (starts_.size() != examples.size() + 1 || starts_.front() != 0 ||
      starts_.back() != documents_.size() || !std::is_sorted(starts_.begin(), starts_.end())) {
    throw std::invalid_argument("the lists of mined documents are not one for each query");
  }
  for (size_t query = 0; query < examples.size(); ++query) {
    CheckDocuments(examples, query, of(query));
  }
}

void ExtraPool::Save(SamplerState& state) const {
  if (empty()) return;
  state.Add(kStarts, starts_);
  state.Add(kDocuments, documents_);
}

ExtraPool ExtraPool::Restore(const Examples& examples, const SamplerState& state) {
  const auto is_ours = [](const StateArray& array) { return array.name == kStarts; };
  if (std::none_of(state.arrays.begin(), state.arrays.end(), is_ours)) return {};
  const std::span<const uint32_t> starts = state.Integers(kStarts, examples.size() + 1);
  const std::span<const uint32_t> documents = state.Integers(kDocuments);
  try {
    return {examples, {starts.begin(), starts.end()}, {documents.begin(), documents.end()}};
  } catch (const std::invalid_argument& error) {
    throw ModelError("the checkpoint", kDocuments,
                     fmt::format("does not fit the data: {}; remove this checkpoint's folder to go "
                                 "on from the one before",
                                 error.what()));
  }
}

}  // namespace tandem::sampling
