#include "eval/identical_ids.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tandem::eval {
namespace {

bool IsRelevant(const data::Qrels* qrels, std::string_view query, std::string_view document) {
  const data::QueryJudgements* judged = qrels != nullptr ? qrels->Find(query) : nullptr;
  return judged != nullptr &&
         std::any_of(judged->judgements.begin(), judged->judgements.end(),
                     [&](const auto& one) { return one.document == document && one.grade > 0; });
}

// Queries that have a result with their own id, by whether it is relevant.
struct Found {
  std::vector<std::string_view> irrelevant;
  size_t relevant = 0;
};

Found Find(const data::Run& run, const data::Qrels* qrels) {
  Found found;
  for (const data::QueryResults& query : run.queries()) {
    if (std::none_of(query.results.begin(), query.results.end(),
                     [&](const auto& result) { return result.document == query.query; })) {
      continue;
    }
    if (IsRelevant(qrels, query.query, query.query)) {
      ++found.relevant;
    } else {
      found.irrelevant.push_back(query.query);
    }
  }
  return found;
}

}  // namespace

IdenticalIds CountIdenticalIds(const data::Run& run, const data::Qrels* qrels) {
  const Found found = Find(run, qrels);
  return {.queries = found.irrelevant.size(), .relevant = found.relevant};
}

IdenticalIds LeaveOutIdenticalIds(const data::Qrels* qrels, data::Run& run) {
  const Found found = Find(run, qrels);
  for (const std::string_view query : found.irrelevant) {
    std::erase_if(run.AddQuery(query).results,
                  [query](const auto& result) { return result.document == query; });
  }
  return {.queries = found.irrelevant.size(), .relevant = found.relevant};
}

}  // namespace tandem::eval
