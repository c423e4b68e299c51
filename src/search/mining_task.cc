#include "search/mining_task.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>

#include "base/error.h"

namespace tandem::search {
namespace {

using Rows = std::vector<uint32_t>;

void SortOnce(Rows& rows) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
}

// What is known about one query.
struct Known {
  Rows positives;
  Rows related;
  Rows irrelevant;
};

Known KnownOf(const MiningTask& task, const data::TrainingSet& set,
              std::span<const uint32_t> examples) {
  Known known;
  const auto add = [&](const data::Judgement& judgement) {
    const uint32_t row = task.row_of_document[judgement.document];
    if (judgement.grade >= set.positive_grade) {
      known.positives.push_back(row);
    } else if (judgement.grade > 0) {
      known.related.push_back(row);
    } else if (judgement.grade == 0) {
      known.irrelevant.push_back(row);
    }
  };
  for (const uint32_t example : examples) {
    const data::TrainingQuery& query = set.examples[example];
    for (const auto* list : {&query.positives, &query.others, &query.unused}) {
      std::for_each(list->begin(), list->end(), add);
    }
  }
  for (Rows* rows : {&known.positives, &known.related, &known.irrelevant}) SortOnce(*rows);
  return known;
}

void AddLists(Known known, MiningTask& task) {
  Rows relevant = known.positives;
  relevant.insert(relevant.end(), known.related.begin(), known.related.end());
  SortOnce(relevant);
  Rows irrelevant;
  std::set_difference(known.irrelevant.begin(), known.irrelevant.end(), relevant.begin(),
                      relevant.end(), std::back_inserter(irrelevant));
  task.relevant.Add(relevant);
  task.positives.Add(known.positives);
  task.irrelevant.Add(irrelevant);
}

}  // namespace

MiningTask MakeMiningTask(const data::TrainingSet& set) {
  std::vector<uint32_t> all(set.examples.size());
  std::iota(all.begin(), all.end(), 0);
  return MakeMiningTask(set, all);
}

MiningTask MakeMiningTask(const data::TrainingSet& set, std::span<const uint32_t> which) {
  MiningTask task;
  std::unordered_map<uint64_t, uint32_t> rows;
  for (uint32_t d = 0; d < set.documents.size(); ++d) {
    const auto [at, is_new] =
        rows.emplace(set.document_hashes[d], static_cast<uint32_t>(task.document_of.size()));
    if (is_new) task.document_of.push_back(d);
    task.row_of_document.push_back(at->second);
  }
  if (task.document_of.size() < 2) {
    throw DataError(set.file, 0, "",
                    "the corpus holds one text only, so that there is no other document to mine");
  }
  rows.clear();
  for (const uint32_t e : which) {
    const uint32_t query = set.examples[e].query;
    const auto [at, is_new] =
        rows.emplace(set.query_hashes[query], static_cast<uint32_t>(task.query_of.size()));
    if (is_new) task.query_of.push_back(query);
    task.row_of_example.push_back(at->second);
  }
  std::vector<Rows> examples(task.query_of.size());  // of each query
  for (uint32_t e = 0; e < set.examples.size(); ++e) {
    const auto row = rows.find(set.query_hashes[set.examples[e].query]);
    if (row != rows.end()) examples[row->second].push_back(e);
  }
  for (const Rows& of_query : examples) AddLists(KnownOf(task, set, of_query), task);
  return task;
}

}  // namespace tandem::search
