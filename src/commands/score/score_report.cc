#include "commands/score/score_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json/json.h"

namespace tandem::app {

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

std::string ScoreText(const ScoreSummary& s, const report::TextStyle& style) {
  report::Table table({{.name = "what", .least_width = 18},
                       {.name = "value", .when_long = report::LongText::kWrap}},
                      {.heading = false});
  table.Add({"queries", std::to_string(s.queries)});
  table.Add({"pairs", std::to_string(s.pairs)});
  table.Add({"score", s.scale});
  table.Add({"  lowest", report::Fixed(s.lowest)});
  table.Add({"  mean", report::Fixed(s.mean)});
  table.Add({"  highest", report::Fixed(s.highest)});
  const auto add_mean = [&table](const char* label, double mean, size_t pairs) {
    if (pairs > 0) table.Add({label, fmt::format("{} ({} pairs)", report::Fixed(mean), pairs)});
  };
  add_mean("  of positives", s.positive_mean, s.positives);
  add_mean("  of others", s.other_mean, s.pairs - s.positives);
  return table.Text(style);
}

std::string ScoreJson(const ScoreSummary& s) {
  const auto mean = [](double value, size_t count) { return count == 0 ? Json() : Json(value); };
  const Json json = {{"queries", s.queries},
                     {"pairs", s.pairs},
                     {"score", s.scale},
                     {"lowest", s.lowest},
                     {"mean", s.mean},
                     {"highest", s.highest},
                     {"positives", s.positives},
                     {"positive_mean", mean(s.positive_mean, s.positives)},
                     {"other_mean", mean(s.other_mean, s.pairs - s.positives)}};
  return json.Dump(1) + "\n";
}

}  // namespace tandem::app
