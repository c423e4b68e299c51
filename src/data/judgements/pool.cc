#include "data/judgements/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

#include "base/hashes/text_hash.h"
#include "base/random.h"

namespace tandem::data {
namespace {

std::vector<bool> JudgedDocuments(size_t documents, std::span<const JudgedQuery> judged) {
  std::vector<bool> is_judged(documents);
  for (const JudgedQuery& query : judged) {
    for (const Judgement& judgement : query.judgements) is_judged[judgement.document] = true;
  }
  return is_judged;
}

struct Draw {
  uint64_t number = 0;
  uint32_t document = 0;
};

// Adds `count` of the documents that `taken` lacks to it.
void DrawOthers(const Texts& documents, size_t count, uint64_t seed, std::vector<bool>& taken) {
  std::vector<Draw> draws;
  for (uint32_t d = 0; d < documents.size(); ++d) {
    if (taken[d]) continue;
    const StreamName name{.seed = seed, .purpose = "pool", .epoch = TextHash(documents.id(d))};
    draws.push_back({RandomStream(name).Next(), d});
  }
  const auto earlier = [&documents](const Draw& a, const Draw& b) {
    return std::tuple(a.number, documents.id(a.document)) <
           std::tuple(b.number, documents.id(b.document));
  };
  const auto end = draws.begin() + static_cast<std::ptrdiff_t>(std::min(count, draws.size()));
  std::nth_element(draws.begin(), end, draws.end(), earlier);
  for (auto draw = draws.begin(); draw != end; ++draw) taken[draw->document] = true;
}

// Copies the documents that are `taken` and gives the judgements their new numbers.
void Take(const Texts& documents, const std::vector<bool>& taken, Pool& pool) {
  std::vector<uint32_t> number_of(documents.size());
  for (uint32_t d = 0; d < documents.size(); ++d) {
    if (!taken[d]) continue;
    number_of[d] = static_cast<uint32_t>(pool.of_corpus.size());
    pool.of_corpus.push_back(d);
    pool.documents.Add(documents.id(d), documents.text(d), documents.title(d).size());
  }
  for (JudgedQuery& query : pool.judged) {
    for (Judgement& judgement : query.judgements) {
      judgement.document = number_of[judgement.document];
    }
  }
}

}  // namespace

Pool DrawPool(const Texts& documents, std::span<const JudgedQuery> judged, size_t size,
              uint64_t seed) {
  std::vector<bool> taken = JudgedDocuments(documents.size(), judged);
  Pool pool{.judged = {judged.begin(), judged.end()}, .corpus = documents.size()};
  pool.judged_documents = static_cast<size_t>(std::count(taken.begin(), taken.end(), true));
  if (size >= documents.size()) {
    pool.documents = documents;
    pool.of_corpus.resize(documents.size());
    std::iota(pool.of_corpus.begin(), pool.of_corpus.end(), 0);
    return pool;
  }
  if (size > pool.judged_documents) {
    DrawOthers(documents, size - pool.judged_documents, seed, taken);
  }
  Take(documents, taken, pool);
  return pool;
}

std::string PoolText(const Pool& pool, size_t size) {
  if (pool.is_whole()) {
    return fmt::format("all {} documents: a pool of {} has room for the whole corpus", pool.corpus,
                       size);
  }
  const std::string text =
      fmt::format("a pool of {} of {} documents", pool.documents.size(), pool.corpus);
  if (size >= pool.judged_documents) {
    return fmt::format("{} ({} of them judged)", text, pool.judged_documents);
  }
  return fmt::format("{}: the judged ones alone, which are more than {}", text, size);
}

}  // namespace tandem::data
