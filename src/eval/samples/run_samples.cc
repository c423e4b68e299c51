#include "eval/samples/run_samples.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "eval/samples/corpus_levels.h"

namespace tandem::eval {
namespace {

// Every result of a ranking, where SamplesOf keeps the best others.
QuerySamples AllOf(std::string_view query, const JudgedRanking& ranking) {
  QuerySamples samples{.query = query};
  for (size_t rank = 0; rank < ranking.results.size(); ++rank) {
    (ranking.IsPositive(rank) ? samples.positives : samples.negatives)
        .push_back(ranking.results[rank].score);
  }
  samples.missing_positives = ranking.positive_count - samples.positives.size();
  return samples;
}

}  // namespace

RunSamples SamplesOfRun(const data::Run& run, const data::Qrels& qrels,
                        std::span<const std::string> queries, const RankingOptions& options,
                        bool all_results) {
  RunSamples of_run;
  std::vector<size_t> results_of;
  for (const std::string& query : queries) {
    const data::QueryResults* results = run.Find(query);
    const JudgedRanking ranking =
        RankAndJudge(results != nullptr ? std::span<const data::ScoredDocument>(results->results)
                                        : std::span<const data::ScoredDocument>(),
                     qrels.Find(query)->judgements, options);
    const std::string_view id = qrels.Find(query)->query;
    of_run.samples.push_back(all_results ? AllOf(id, ranking) : SamplesOf(id, ranking));
    results_of.push_back(ranking.results.size());
    of_run.floors.push_back(ranking.results.empty() ? kNoFloor : ranking.results.back().score);
  }
  const size_t depth = *std::max_element(results_of.begin(), results_of.end());
  for (size_t q = 0; q < queries.size(); ++q) {
    if (results_of[q] < depth) of_run.floors[q] = kNoFloor;
  }
  return of_run;
}

std::vector<QuerySamples> SamplesInOrder(std::span<const QuerySamples> given,
                                         std::span<const std::string> queries) {
  std::unordered_map<std::string_view, const QuerySamples*> by_query;
  for (const QuerySamples& samples : given) by_query.emplace(samples.query, &samples);
  std::vector<QuerySamples> ordered;
  for (const std::string& query : queries) {
    const auto found = by_query.find(query);
    ordered.push_back(found != by_query.end() ? *found->second : QuerySamples{.query = query});
  }
  return ordered;
}

}  // namespace tandem::eval
