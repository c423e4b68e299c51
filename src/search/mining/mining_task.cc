#include "search/mining/mining_task.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace tandem::search {
namespace {

using Rows = std::vector<uint32_t>;

void SortOnce(Rows& rows) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
}

// The known judgements of one query.
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

bool Holds(const Rows& rows, uint32_t row) {
  return std::binary_search(rows.begin(), rows.end(), row);
}

class TaskMaker {
 public:
  TaskMaker(const data::TrainingSet& set, const MiningTaskOptions& options)
      : set_(set), options_(options) {
    for (uint32_t d = 0; d < set.documents.size(); ++d) {
      const auto [at, is_new] = document_rows_.emplace(
          set.document_hashes[d], static_cast<uint32_t>(task_.document_of.size()));
      if (is_new) task_.document_of.push_back(d);
      task_.row_of_document.push_back(at->second);
    }
    if (task_.document_of.size() < 2) {
      throw DataError(set.file, 0, "",
                      "the corpus holds one text only, so that there is no other document to mine");
    }
  }

  MiningTask Make(std::span<const uint32_t> which) {
    std::unordered_map<uint64_t, uint32_t> rows;  // of queries
    for (const uint32_t e : which) {
      const uint32_t query = set_.examples[e].query;
      const auto [at, is_new] =
          rows.emplace(set_.query_hashes[query], static_cast<uint32_t>(task_.query_of.size()));
      if (is_new) task_.query_of.push_back(query);
      task_.row_of_example.push_back(at->second);
    }
    std::vector<Rows> examples(task_.query_of.size());  // of each query
    for (uint32_t e = 0; e < set_.examples.size(); ++e) {
      const auto row = rows.find(set_.query_hashes[set_.examples[e].query]);
      if (row != rows.end()) examples[row->second].push_back(e);
    }
    for (size_t q = 0; q < examples.size(); ++q) AddLists(q, examples[q]);
    return std::move(task_);
  }

 private:
  void AddLists(size_t query, const Rows& examples) {
    const Known known = KnownOf(task_, set_, examples);
    Rows relevant = known.positives;
    relevant.insert(relevant.end(), known.related.begin(), known.related.end());
    SortOnce(relevant);
    AddOwn(query, examples, relevant);
    Rows irrelevant;
    std::set_difference(known.irrelevant.begin(), known.irrelevant.end(), relevant.begin(),
                        relevant.end(), std::back_inserter(irrelevant));
    task_.relevant.Add(relevant);
    task_.positives.Add(known.positives);
    task_.irrelevant.Add(irrelevant);
  }

  // Adds what is the query itself.
  void AddOwn(size_t query, const Rows& examples, Rows& relevant) {
    Rows own;
    const auto text = document_rows_.find(set_.query_hashes[task_.query_of[query]]);
    if (text != document_rows_.end() && !Holds(relevant, text->second)) {
      ++task_.own_texts;
      if (options_.own_text) own.push_back(text->second);
    }
    bool any_id = false;
    for (const uint32_t e : examples) {
      const auto document = set_.documents.Find(set_.queries.id(set_.examples[e].query));
      if (!document) continue;
      const uint32_t row = task_.row_of_document[*document];
      if (Holds(relevant, row) || std::find(own.begin(), own.end(), row) != own.end()) continue;
      any_id = true;
      if (options_.identical_ids) own.push_back(row);
    }
    task_.identical_ids += any_id ? 1 : 0;
    if (own.empty()) return;
    relevant.insert(relevant.end(), own.begin(), own.end());
    SortOnce(relevant);
  }

  const data::TrainingSet& set_;
  MiningTaskOptions options_;
  std::unordered_map<uint64_t, uint32_t> document_rows_;  // by hash of the text
  MiningTask task_;
};

}  // namespace

MiningTask MakeMiningTask(const data::TrainingSet& set, const MiningTaskOptions& options) {
  std::vector<uint32_t> all(set.examples.size());
  std::iota(all.begin(), all.end(), 0);
  return MakeMiningTask(set, all, options);
}

MiningTask MakeMiningTask(const data::TrainingSet& set, std::span<const uint32_t> which,
                          const MiningTaskOptions& options) {
  return TaskMaker(set, options).Make(which);
}

}  // namespace tandem::search
