#include "app/score_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace tandem::app {
namespace {

std::string Line(const char* label, const std::string& value) {
  return fmt::format("{:<20}{}\n", label, value);
}

}  // namespace

ScoreSummary SummarizeScores(const data::Dataset& dataset, std::span<const float> scores,
                             std::string scale) {
  ScoreSummary summary{
      .queries = dataset.judged.size(), .pairs = scores.size(), .scale = std::move(scale)};
  double positive_sum = 0, other_sum = 0;
  size_t p = 0;
  for (const data::JudgedQuery& query : dataset.judged) {
    for (const data::Judgement& judgement : query.judgements) {
      const auto score = static_cast<double>(scores[p++]);
      summary.positives += judgement.grade > 0;
      (judgement.grade > 0 ? positive_sum : other_sum) += score;
      summary.lowest = p == 1 ? score : std::min(summary.lowest, score);
      summary.highest = p == 1 ? score : std::max(summary.highest, score);
    }
  }
  const auto mean = [](double sum, size_t count) {
    return count == 0 ? 0.0 : sum / static_cast<double>(count);
  };
  summary.mean = mean(positive_sum + other_sum, p);
  summary.positive_mean = mean(positive_sum, summary.positives);
  summary.other_mean = mean(other_sum, p - summary.positives);
  return summary;
}

std::string ScoreText(const ScoreSummary& s) {
  std::string text = Line("queries", fmt::format("{}", s.queries)) +
                     Line("pairs", fmt::format("{}", s.pairs)) + Line("score", s.scale) +
                     Line("  lowest", fmt::format("{:.4f}", s.lowest)) +
                     Line("  mean", fmt::format("{:.4f}", s.mean)) +
                     Line("  highest", fmt::format("{:.4f}", s.highest));
  if (s.positives > 0) {
    text += Line("  of positives", fmt::format("{:.4f} ({} pairs)", s.positive_mean, s.positives));
  }
  if (const size_t others = s.pairs - s.positives; others > 0) {
    text += Line("  of others", fmt::format("{:.4f} ({} pairs)", s.other_mean, others));
  }
  return text;
}

std::string ScoreJson(const ScoreSummary& s) {
  const auto mean = [](double value, size_t count) {
    return count == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
  };
  const nlohmann::ordered_json json = {{"queries", s.queries},
                                       {"pairs", s.pairs},
                                       {"score", s.scale},
                                       {"lowest", s.lowest},
                                       {"mean", s.mean},
                                       {"highest", s.highest},
                                       {"positives", s.positives},
                                       {"positive_mean", mean(s.positive_mean, s.positives)},
                                       {"other_mean", mean(s.other_mean, s.pairs - s.positives)}};
  return json.dump(1) + "\n";
}

}  // namespace tandem::app
