#include "app/mining_data.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <utility>

#include "base/log.h"
#include "data/grades.h"
#include "data/read_dataset.h"
#include "data/write_dataset.h"

namespace tandem::app {
namespace {

data::WriteOptions WriteOptionsOf(const MiningOutput& output, const MiningSource& source,
                                  const search::MiningRules& rules, bool has_grades) {
  data::WriteOptions options{.split = source.split};
  if (output.format != "beir" && has_grades) options.positive_grade = source.positive_grade;
  if (output.format == "sentence_transformers") options.negatives = rules.negatives;
  return options;
}

// Queries with none of their negatives in the output learn from nothing.
void WarnOfFewer(const search::MiningSummary& sums, const search::MiningRules& rules) {
  if (sums.full == sums.queries) return;
  Warn(
      fmt::format("{} of {} queries have fewer than {} negatives, {} of them none: widen --range{}",
                  sums.queries - sums.full, sums.queries, rules.negatives, sums.without,
                  rules.HasMargin() ? " or lower the margins" : ""));
}

void Print(const char* label, const std::string& value) { fmt::print("{:<28}{}\n", label, value); }

void PrintFalseNegatives(const search::MiningSummary& sums, const search::RankRange& ranks) {
  if (const std::optional<double> rate = sums.FalseNegativeRate()) {
    Print("false negatives",
          fmt::format("about {:.1f} %: of {} judged documents at ranks {} to {}, {} are positives",
                      100 * *rate, sums.positives_in_range + sums.irrelevant_in_range, ranks.begin,
                      ranks.end - 1, sums.positives_in_range));
  } else {
    Print("false negatives",
          fmt::format("not known: no document at ranks {} to {} is judged irrelevant", ranks.begin,
                      ranks.end - 1));
  }
}

void PrintSummary(const search::MiningSummary& sums, const search::MiningRules& rules) {
  Print("queries", fmt::format("{}", sums.queries));
  Print("negatives", fmt::format("{}", sums.negatives));
  Print("mean score of negatives", fmt::format("{:.4f}", sums.negative_score));
  Print("mean score of positives", fmt::format("{:.4f}", sums.positive_score));
  if (sums.unscored_positives > 0) {
    Print("positives without a score", fmt::format("{}", sums.unscored_positives));
  }
  if (rules.HasMargin()) {
    Print("taken out by margins", fmt::format("{}", sums.left_out));
  }
  PrintFalseNegatives(sums, rules.ranks);
}

}  // namespace

MiningData ReadMiningData(const MiningSource& source) {
  data::Dataset dataset = data::ReadDataset(source.dataset, source.format, source.split);
  data::TakePairScoresAsGrades(dataset);
  if (dataset.scores != data::ScoreKind::kNone) {
    Warn(fmt::format("{}: has scores, which mined documents lack; the output has none",
                     dataset.file));
  }
  MiningData data{.query_prompt = dataset.query_prompt, .has_grades = dataset.has_grades};
  data.set = data::BuildTrainingSet(std::move(dataset), source.positive_grade);
  data.task = search::MakeMiningTask(data.set);
  size_t irrelevant = 0;
  for (const data::TrainingQuery& example : data.set.examples) {
    for (const data::Judgement& judgement : example.others) irrelevant += judgement.grade == 0;
  }
  if (irrelevant > 0) {
    Note(fmt::format("{}: {} documents that are judged irrelevant give way to mined ones",
                     data.set.file, irrelevant));
  }
  return data;
}

void CheckMiningOutput(const MiningOutput& output) {
  data::CheckWriteRequest(output.format, output.path);
}

void FinishMining(const MiningData& data, const search::MiningRules& rules,
                  const search::Mined& mined, const MiningSource& source,
                  const MiningOutput& output) {
  const search::MiningSummary sums = search::Summarize(rules, mined);
  WarnOfFewer(sums, rules);
  const data::Dataset dataset =
      search::WithMined(data.set, data.task, mined, data.query_prompt, data.has_grades);
  const data::WriteCounts counts = data::WriteDataset(
      dataset, output.format, output.path, WriteOptionsOf(output, source, rules, data.has_grades));
  PrintSummary(sums, rules);
  Note(fmt::format("wrote {}: queries {}, documents {}, judgements {}", output.path, counts.queries,
                   counts.documents, counts.judgements));
}

}  // namespace tandem::app
