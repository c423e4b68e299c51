#include "train/inputs/own_text.h"

#include <algorithm>
#include <unordered_map>

namespace tandem::train {
namespace {

bool HasText(const data::TrainingSet& set, const data::Judgement& one, uint64_t hash) {
  return set.document_hashes[one.document] == hash;
}

// Whether a document with the query's text has a grade above 0 for the query.
bool IsJudgedRelevant(const data::TrainingSet& set, const data::TrainingQuery& query) {
  const uint64_t hash = set.query_hashes[query.query];
  const auto relevant = [&](const data::Judgement& one) {
    return one.grade > 0 && HasText(set, one, hash);
  };
  return std::any_of(query.positives.begin(), query.positives.end(), relevant) ||
         std::any_of(query.others.begin(), query.others.end(), relevant) ||
         std::any_of(query.unused.begin(), query.unused.end(), relevant);
}

// Counts the queries whose text is also a document that is not judged relevant. The map holds the
// queries, because they are few and the documents are many.
size_t CountQueries(const data::TrainingSet& set, std::span<const uint32_t> which) {
  std::unordered_map<uint64_t, bool> is_document;  // by hash of a query's text
  for (const uint32_t e : which) is_document[set.query_hashes[set.examples[e].query]] = false;
  for (const uint64_t hash : set.document_hashes) {
    const auto found = is_document.find(hash);
    if (found != is_document.end()) found->second = true;
  }
  return static_cast<size_t>(std::count_if(which.begin(), which.end(), [&](uint32_t e) {
    const data::TrainingQuery& query = set.examples[e];
    return is_document.at(set.query_hashes[query.query]) && !IsJudgedRelevant(set, query);
  }));
}

}  // namespace

OwnTexts LeaveOutOwnTexts(data::TrainingSet& set, std::vector<uint32_t>& which) {
  OwnTexts found{.queries = CountQueries(set, which)};
  if (found.queries == 0) return found;
  for (const uint32_t e : which) {
    data::TrainingQuery& query = set.examples[e];
    if (IsJudgedRelevant(set, query)) continue;
    const uint64_t hash = set.query_hashes[query.query];
    const auto end = std::stable_partition(
        query.others.begin(), query.others.end(),
        [&](const data::Judgement& one) { return one.grade != 0 || !HasText(set, one, hash); });
    found.judged += static_cast<size_t>(query.others.end() - end);
    query.unused.insert(query.unused.end(), end, query.others.end());
    query.others.erase(end, query.others.end());
  }
  found.left_out = std::erase_if(
      which, [&set](uint32_t e) { return !data::HasPairedDocument(set.examples[e], set.own); });
  return found;
}

}  // namespace tandem::train
