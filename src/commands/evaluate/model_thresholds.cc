#include "commands/evaluate/model_thresholds.h"

#include <vector>

#include "eval/samples/corpus_levels.h"
#include "eval/samples/score_levels.h"
#include "search/scoring/score_counts.h"
#include "tensor/core/tensor.h"

namespace tandem::app {
namespace {

// Counts the documents above each threshold, [samples, thresholds]. Queries without text come last
// and find nothing.
eval::CorpusCounts CountCorpus(const search::SearchedRows& rows, std::vector<double> thresholds,
                               size_t queries) {
  // Scores are floats, so that this is exact.
  search::ScoreCounts counts(rows.queries, {thresholds.rbegin(), thresholds.rend()});
  for (const tensor::Tensor& block : rows.documents) counts.Add(block);
  const std::vector<uint32_t> ascending = counts.Take();
  eval::CorpusCounts counted{.counts = std::vector<uint32_t>(queries * thresholds.size())};
  const size_t width = thresholds.size();
  for (size_t i = 0; i < ascending.size(); ++i) {
    counted.counts[i / width * width + (width - 1 - i % width)] = ascending[i];
  }
  counted.thresholds = std::move(thresholds);
  return counted;
}

}  // namespace

ThresholdReport ThresholdsOfModel(std::span<const eval::QuerySamples> samples,
                                  const search::SearchedRows& rows,
                                  const ThresholdRequest& request) {
  const std::vector<double> floors = eval::FloorsOf(samples);
  const eval::ScoreLevels pool = eval::PoolLevels(samples);
  const eval::CorpusCounts counted =
      CountCorpus(rows,
                  eval::CandidateThresholds(samples, eval::BorderOf(floors),
                                            eval::PoolThresholds(pool, request.targets)),
                  samples.size());
  return MakeThresholdReport(samples, eval::LevelsOfCorpus(samples, floors, &counted), request);
}

}  // namespace tandem::app
