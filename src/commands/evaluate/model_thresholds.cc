#include "commands/evaluate/model_thresholds.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "commands/model/load_model.h"
#include "eval/samples/corpus_levels.h"
#include "eval/samples/score_levels.h"
#include "model/fingerprint.h"
#include "search/scoring/score_counts.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/precision.h"

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

std::vector<std::vector<eval::QueryShown>> ShownByModel(
    std::span<const eval::QuerySamples> samples, const search::SearchedRows& rows,
    std::span<const SavedThreshold> thresholds) {
  std::vector<float> scores;  // ascending
  for (const SavedThreshold& one : thresholds) scores.push_back(static_cast<float>(one.threshold));
  std::sort(scores.begin(), scores.end());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
  search::ScoreCounts counts(rows.queries, scores);
  for (const tensor::Tensor& block : rows.documents) counts.Add(block);
  const std::vector<uint32_t> counted = counts.Take();  // [queries with text, scores]
  // As those of a run, so that the same seed resamples the same queries.
  std::vector<size_t> by_id(samples.size());
  std::iota(by_id.begin(), by_id.end(), size_t{0});
  std::sort(by_id.begin(), by_id.end(),
            [&](size_t a, size_t b) { return samples[a].query < samples[b].query; });
  std::vector<std::vector<eval::QueryShown>> shown;
  for (const SavedThreshold& one : thresholds) {
    const auto threshold = static_cast<float>(one.threshold);
    const auto place = static_cast<size_t>(
        std::lower_bound(scores.begin(), scores.end(), threshold) - scores.begin());
    std::vector<eval::QueryShown>& queries = shown.emplace_back();
    for (const size_t q : by_id) {
      const size_t at = q * scores.size() + place;
      const uint32_t documents = at < counted.size() ? counted[at] : 0;
      const auto found = std::count_if(
          samples[q].positives.begin(), samples[q].positives.end(),
          [threshold](double score) { return static_cast<float>(score) >= threshold; });
      queries.push_back({.positives = samples[q].positives.size() + samples[q].missing_positives,
                         .found = static_cast<uint64_t>(found),
                         .shown = documents,
                         .nothing = documents == 0});
    }
  }
  return shown;
}

ThresholdSource SourceOfModel(model::DualEncoder& model, const EvaluatedSet& set,
                              const EvaluateOptions& options, size_t queries) {
  using model::TextKind;
  return {.data = set.pool == 0
                      ? FolderName(set.folder)
                      : fmt::format("{}, a pool of {} documents", FolderName(set.folder), set.pool),
          .split = set.split,
          .queries = queries,
          .relevance_level = options.relevance_level,
          .run = {},
          .model = FolderName(options.model.model),
          .fingerprint = fmt::format("{:016x}", model::Fingerprint(model)),
          .similarity = model.similarity(),
          .precision = std::string(tensor::PrecisionName(BulkOptions(options.globals).precision)),
          .width = static_cast<size_t>(model.embedding_width()),
          .query_prompt = model.prompt(TextKind::kQuery),
          .document_prompt = model.prompt(TextKind::kDocument),
          .max_query_tokens = model.max_tokens(TextKind::kQuery),
          .max_document_tokens = model.max_tokens(TextKind::kDocument)};
}

}  // namespace tandem::app
