#include "search/mining/run_mining.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/log.h"

namespace tandem::search {
namespace {

// The results of a query, best first, as hits among the task's documents; copies count once.
class Ranking {
 public:
  Ranking(const data::TrainingSet& set, const MiningTask& task, std::string_view file)
      : set_(set), task_(task), file_(file), taken_(task.document_of.size()) {}

  std::vector<Hit> Of(const data::QueryResults& results) {
    std::vector<data::ScoredDocument> sorted = results.results;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.score != b.score ? a.score > b.score : a.document > b.document;
    });
    std::vector<Hit> hits;
    for (const data::ScoredDocument& result : sorted) {
      const uint32_t row = RowOf(result.document, results.query);
      if (taken_[row]) continue;
      taken_[row] = true;
      hits.push_back({row, static_cast<float>(result.score)});
    }
    for (const Hit& hit : hits) taken_[hit.document] = false;
    return hits;
  }

 private:
  uint32_t RowOf(std::string_view document, std::string_view query) const {
    const std::optional<uint32_t> found = set_.documents.Find(document);
    if (!found) {
      throw DataError(file_, 0, document,
                      fmt::format("has a document for query {} that the corpus lacks; expected a "
                                  "run over the documents of {}",
                                  query, set_.file));
    }
    return task_.row_of_document[*found];
  }

  const data::TrainingSet& set_;
  const MiningTask& task_;
  std::string_view file_;
  std::vector<bool> taken_;
};

void ScorePositives(const MiningTask& task, size_t query, std::span<const Hit> hits, Mined* mined) {
  const std::span<const uint32_t> positives = task.positives[query];
  for (const Hit& hit : hits) {
    const auto at = std::lower_bound(positives.begin(), positives.end(), hit.document);
    if (at == positives.end() || *at != hit.document) continue;
    mined->positive_scores[task.positives.start(query) +
                           static_cast<size_t>(at - positives.begin())] = hit.score;
  }
}

struct Reach {
  size_t queries = 0;  // with results
  size_t deepest = 0;  // results of a query, those that are relevant left out
  size_t shallow = 0;  // queries whose results end before the range does
};

void CheckReach(const Reach& reach, const MiningTask& task, const MiningRules& rules,
                std::string_view file) {
  const size_t queries = task.query_of.size();
  if (reach.queries == 0) {
    throw DataError(file, 0, "",
                    "has results for none of the queries of the data set; expected their ids");
  }
  if (reach.deepest <= rules.ranks.begin) {
    throw UsageError(fmt::format(
        "--range {}:{} begins after all results: {} has at most {} a query, known positives left "
        "out. Give a lower range or a deeper run",
        rules.ranks.begin, rules.ranks.end, file, reach.deepest));
  }
  if (reach.queries < queries) {
    Warn(fmt::format("{}: {} of {} queries have no results and get no negatives", file,
                     queries - reach.queries, queries));
  }
  if (reach.shallow > 0) {
    Warn(fmt::format("{}: {} of {} queries have results for a part of --range {}:{} only", file,
                     reach.shallow, queries, rules.ranks.begin, rules.ranks.end));
  }
}

}  // namespace

Mined MineFromRun(const data::TrainingSet& set, const MiningTask& task, const MiningRules& rules,
                  const data::Run& run, std::string_view file) {
  Mined mined = NothingMined(task);
  // Queries with one text may have several ids; the first with results speaks for all.
  std::vector<const data::QueryResults*> results(task.query_of.size(), nullptr);
  for (size_t e = 0; e < set.examples.size(); ++e) {
    const data::QueryResults*& of_query = results[task.row_of_example[e]];
    if (of_query == nullptr) of_query = run.Find(set.queries.id(set.examples[e].query));
  }
  Ranking ranking(set, task, file);
  Reach reach;
  for (size_t q = 0; q < results.size(); ++q) {
    if (results[q] == nullptr) continue;
    const std::vector<Hit> hits = ranking.Of(*results[q]);
    ScorePositives(task, q, hits, &mined);
    MineQuery(task, rules, q, hits, &mined);
    const auto others = static_cast<size_t>(std::count_if(hits.begin(), hits.end(), [&](Hit hit) {
      const std::span<const uint32_t> relevant = task.relevant[q];
      return !std::binary_search(relevant.begin(), relevant.end(), hit.document);
    }));
    ++reach.queries;
    reach.deepest = std::max(reach.deepest, others);
    reach.shallow += others < rules.ranks.end;
  }
  CheckReach(reach, task, rules, file);
  return mined;
}

}  // namespace tandem::search
