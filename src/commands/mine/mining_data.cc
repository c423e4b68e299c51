#include "commands/mine/mining_data.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "base/json/json.h"
#include "base/log.h"
#include "cli/output_style.h"
#include "data/judgements/grades.h"
#include "data/read_dataset.h"
#include "data/write_dataset.h"
#include "report/tables/table.h"

namespace tandem::app {
namespace {

data::WriteOptions WriteOptionsOf(const MiningOutput& output, const MiningSource& source,
                                  const search::MiningRules& rules, bool has_grades) {
  data::WriteOptions options{.split = source.split};
  if (output.format != "beir" && has_grades) {
    options.positive_grade = source.positive_grade_or_default();
  }
  if (output.format == "sentence_transformers") options.negatives = rules.negatives;
  return options;
}

// Warns of queries for which fewer negatives were mined; a query with none learns from none of
// them.
void WarnOfFewer(const search::MiningSummary& sums, const search::MiningRules& rules) {
  if (sums.full == sums.queries) return;
  Warn(
      fmt::format("{} of {} queries have fewer than {} negatives, {} of them none: widen --range{}",
                  sums.queries - sums.full, sums.queries, rules.negatives, sums.without,
                  rules.HasMargin() ? " or lower the margins" : ""));
}

std::string FalseNegatives(const search::MiningSummary& sums, const search::RankRange& ranks) {
  const std::optional<double> rate = sums.FalseNegativeRate();
  if (!rate) {
    return fmt::format("not known: no document at ranks {} to {} is judged irrelevant", ranks.begin,
                       ranks.end - 1);
  }
  return fmt::format("about {}: of {} judged documents at ranks {} to {}, {} are positives",
                     report::Percent(rate), sums.positives_in_range + sums.irrelevant_in_range,
                     ranks.begin, ranks.end - 1, sums.positives_in_range);
}

void PrintSummary(const search::MiningSummary& sums, const search::MiningRules& rules) {
  report::Table table({{.name = "what", .least_width = 26},
                       {.name = "value", .when_long = report::LongText::kWrap}},
                      {.heading = false});
  table.Add({"queries", std::to_string(sums.queries)});
  table.Add({"negatives", std::to_string(sums.negatives)});
  table.Add({"mean score of negatives", report::Fixed(sums.negative_score)});
  table.Add({"mean score of positives", report::Fixed(sums.positive_score)});
  if (sums.unscored_positives > 0) {
    table.Add({"positives without a score", std::to_string(sums.unscored_positives)});
  }
  if (rules.HasMargin()) table.Add({"taken out by margins", std::to_string(sums.left_out)});
  table.Add({"false negatives", FalseNegatives(sums, rules.ranks)});
  std::fputs(table.Text(OutputStyle()).c_str(), stdout);
}

void PrintJson(const search::MiningSummary& sums, const search::MiningRules& rules) {
  Json json = {{"queries", sums.queries},
               {"queries_with_fewer", sums.queries - sums.full},
               {"queries_without", sums.without},
               {"negatives", sums.negatives},
               {"mean_score", sums.negative_score},
               {"mean_positive_score", sums.positive_score},
               {"positives_without_score", sums.unscored_positives}};
  if (rules.HasMargin()) json["left_out_by_margins"] = sums.left_out;
  if (const std::optional<double> rate = sums.FalseNegativeRate()) {
    json["false_negative_rate"] = *rate;
    json["judged_in_range"] = sums.positives_in_range + sums.irrelevant_in_range;
    json["positives_in_range"] = sums.positives_in_range;
  }
  std::fputs(report::JsonText(json).c_str(), stdout);
}

// Reports how many queries are themselves documents of the corpus.
void SayOwn(const search::MiningTask& task, const MiningSource& source) {
  const size_t queries = task.query_of.size();
  if (task.own_texts > 0) {
    Note(
        fmt::format("queries whose own text is a document of the corpus, which is not mined: {} "
                    "of {}",
                    task.own_texts, queries));
  }
  if (task.identical_ids == 0) return;
  if (source.ignore_identical_ids) {
    Note(fmt::format("queries whose own id is left out of what is mined: {} of {}",
                     task.identical_ids, queries));
  } else {
    Warn(
        fmt::format("queries with a document of their own id in the corpus: {} of {}; where it is "
                    "the query itself in other words, --ignore-identical-ids leaves it out",
                    task.identical_ids, queries));
  }
}

}  // namespace

MiningData ReadMiningData(const MiningSource& source) {
  data::Dataset dataset = data::ReadDataset(source.dataset, source.format, source.split,
                                            LineRulesOf(source.lines, source.dataset));
  data::SettleScores(dataset, source.positive_grade.has_value());
  if (dataset.scores != data::ScoreKind::kNone && dataset.meaning != data::ScoreMeaning::kLabels) {
    Warn(fmt::format("{}: has scores, which mined documents lack; the output has none",
                     dataset.file));
  }
  MiningData data{.query_prompt = dataset.query_prompt, .has_grades = dataset.has_grades};
  data.set = data::BuildTrainingSet(std::move(dataset), source.positive_grade_or_default());
  data.task = search::MakeMiningTask(data.set, {.identical_ids = source.ignore_identical_ids});
  SayOwn(data.task, source);
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
  output.summary == "json" ? PrintJson(sums, rules) : PrintSummary(sums, rules);
  Note(fmt::format("wrote {}: queries {}, documents {}, judgements {}", output.path, counts.queries,
                   counts.documents, counts.judgements));
}

}  // namespace tandem::app
