#include "data/studies/without_pairs.h"

#include <cstddef>
#include <stdexcept>

namespace tandem::data {
namespace {

// The end of the pairs of the query whose first pair is `first`.
size_t EndOfQuery(const std::vector<DatasetPair>& pairs, size_t first) {
  size_t end = first;
  while (end < pairs.size() && pairs[end].judged == pairs[first].judged) ++end;
  return end;
}

size_t CountKept(const std::vector<bool>& kept, size_t first, size_t end) {
  size_t count = 0;
  for (size_t p = first; p < end; ++p) count += kept[p];
  return count;
}

void CheckSizes(const std::vector<DatasetPair>& pairs, const std::vector<bool>& kept) {
  if (pairs.size() != kept.size()) throw std::logic_error("kept has no entry for each pair");
}

}  // namespace

std::vector<DatasetPair> PairsOf(const Dataset& dataset, double positive_grade) {
  std::vector<DatasetPair> pairs;
  for (uint32_t q = 0; q < dataset.judged.size(); ++q) {
    const std::vector<Judgement>& judgements = dataset.judged[q].judgements;
    for (uint32_t j = 0; j < judgements.size(); ++j) {
      if (judgements[j].grade >= positive_grade) pairs.push_back({q, j});
    }
  }
  return pairs;
}

PairLoss CountLoss(const std::vector<DatasetPair>& pairs, const std::vector<bool>& kept) {
  CheckSizes(pairs, kept);
  PairLoss loss{.pairs = pairs.size()};
  for (size_t first = 0, end = 0; first < pairs.size(); first = end) {
    end = EndOfQuery(pairs, first);
    const size_t left = CountKept(kept, first, end);
    ++loss.queries;
    loss.kept_pairs += left;
    loss.lost_queries += left == 0;
    loss.shrunk_queries += left > 0 && left < end - first;
  }
  return loss;
}

Dataset WithoutPairs(const Dataset& dataset, const std::vector<DatasetPair>& pairs,
                     const std::vector<bool>& kept) {
  CheckSizes(pairs, kept);
  Dataset pruned{.documents = dataset.documents,
                 .queries = dataset.queries,
                 .file = dataset.file,
                 .scores = dataset.scores,
                 .query_prompt = dataset.query_prompt,
                 .has_grades = dataset.has_grades,
                 .meaning = dataset.meaning,
                 .undecided = dataset.undecided};
  for (size_t first = 0, end = 0; first < pairs.size(); first = end) {
    end = EndOfQuery(pairs, first);
    if (CountKept(kept, first, end) == 0) continue;
    const JudgedQuery& query = dataset.judged[pairs[first].judged];
    JudgedQuery& left = pruned.judged.emplace_back(JudgedQuery{.query = query.query});
    size_t p = first;
    for (uint32_t j = 0; j < query.judgements.size(); ++j) {
      const bool is_pair = p < end && pairs[p].judgement == j;
      if (!is_pair || kept[p]) left.judgements.push_back(query.judgements[j]);
      p += is_pair;
    }
  }
  return pruned;
}

}  // namespace tandem::data
