#include "sampling/extra_documents.h"

#include <numeric>
#include <span>
#include <utility>

namespace tandem::sampling {
namespace {

using Taken = std::unordered_set<uint64_t>;  // document hashes of a batch

void AddTo(const Pairs& pairs, std::span<const uint32_t> mined, const ExtraOptions& options,
           const Draw& draw, Taken& taken, Batch& batch) {
  const Examples& examples = pairs.examples();
  const JudgedList judged =
      pairs.graded_own() ? examples.judged(draw.query) : examples.negatives(draw.query);
  std::vector<uint32_t> pool(judged.size() + mined.size());  // judged documents, then mined ones
  std::iota(pool.begin(), pool.end(), 0);
  RandomStream random = DocumentStream(options.seed, batch.epoch, draw.repeat);
  random.Seek((uint64_t{draw.query} << kDrawBits) + (uint64_t{1} << (kDrawBits - 1)));
  size_t wanted = options.count;
  for (size_t left = pool.size(); left > 0 && wanted > 0; --left) {
    std::swap(pool[random.Below(left)], pool[left - 1]);
    const uint32_t chosen = pool[left - 1];
    const bool is_judged = chosen < judged.size();
    const uint32_t document = is_judged ? judged.document(chosen) : mined[chosen - judged.size()];
    if (document == draw.document) continue;
    if (is_judged && pairs.graded_own() && !pairs.kept(pairs.first(draw.query) + chosen)) continue;
    if (options.no_duplicates && !taken.insert(examples.document_hash(document)).second) continue;
    batch.documents.push_back(document);
    --wanted;
  }
}

}  // namespace

RandomStream DocumentStream(uint64_t seed, uint64_t epoch, uint32_t repeat) {
  return RandomStream({seed, "sampling documents", epoch, repeat});
}

void AddExtra(const Pairs& pairs, const ExtraPool& mined, const ExtraOptions& options,
              const std::vector<Draw>& draws, Batch& batch) {
  if (options.count == 0) {
    batch.extra_starts.assign(batch.rows() + 1, static_cast<uint32_t>(batch.columns()));
    return;
  }
  Taken taken;
  for (const uint32_t own : batch.documents) taken.insert(pairs.examples().document_hash(own));
  batch.extra_starts.push_back(static_cast<uint32_t>(batch.columns()));
  for (const Draw& draw : draws) {
    if (!options.in_batch) taken = {pairs.examples().document_hash(draw.document)};
    AddTo(pairs, mined.of(draw.query), options, draw, taken, batch);
    batch.extra_starts.push_back(static_cast<uint32_t>(batch.columns()));
  }
}

}  // namespace tandem::sampling
