// The work of `tandem score`.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/output_style.h"
#include "commands/model/load_model.h"
#include "commands/score/score_command.h"
#include "commands/score/score_report.h"
#include "commands/until_stopped.h"
#include "data/judgements/grades.h"
#include "data/read_dataset.h"
#include "data/write_dataset.h"
#include "model/encoders/cross_encoder.h"
#include "search/scoring/bi_encoder_scores.h"
#include "search/scoring/cross_encoder_scores.h"
#include "search/scoring/grade_rule.h"
#include "tensor/machine/process.h"
#include "weights/folders/cross_encoder_folder.h"

namespace tandem::app {
namespace {

// The formats of input and output, which are decided before any work.
struct Formats {
  std::string from, to;
  data::WriteOptions write;
};

Formats FormatsOf(const ScoreOptions& options) {
  Formats formats{.from = options.from, .write = {.split = options.split_or_default()}};
  if (formats.from == "auto") {
    formats.from = std::filesystem::is_directory(options.dataset)
                       ? "beir"
                       : std::string(data::FormatOfLines(options.dataset));
  }
  formats.to = options.to.empty() ? formats.from : options.to;
  if (!options.split.empty() && formats.from != "beir" && formats.to != "beir") {
    throw UsageError(
        fmt::format("--split names a split of a BEIR folder, but {} is none and none is written",
                    options.dataset));
  }
  data::CheckHoldsScores(options.role(), formats.to);
  data::CheckWriteRequest(formats.to, options.output, formats.write);
  return formats;
}

data::Dataset ReadPairs(const ScoreOptions& options, const Formats& formats) {
  data::Dataset dataset =
      data::ReadDataset(options.dataset, formats.from, options.split_or_default(),
                        LineRulesOf(options.lines, options.dataset));
  if (const size_t dropped = data::DropUnjudged(dataset)) {
    Warn(fmt::format("{}: {} judgements below 0 say \"not judged\" and are left out", dataset.file,
                     dropped));
  }
  if (dataset.scores != data::ScoreKind::kNone) {
    Note(fmt::format("{}: its scores give way to the model's", dataset.file));
  }
  data::SettleScores(dataset, /*has_rule=*/false);  // so that a pair of score 0 is a negative
  return dataset;
}

struct Scored {
  std::vector<float> scores;  // [P]
  std::string scale;          // meaning of the scores
};

Scored ScoreByBiEncoder(const ScoreOptions& options, const data::Dataset& dataset,
                        const data::JudgedPairs& pairs) {
  const auto model = LoadModel(options.globals, options.model, dataset.query_prompt);
  const bool grades = options.role() == data::ScoreRole::kGrades;
  search::GradeRule rule{.similarity = model->similarity(), .text = model->similarity()};
  if (grades) rule = search::GradeRuleOf(*model);
  search::BiEncoderScores found = search::ScoreByEmbeddings(
      *model, dataset, pairs, rule.similarity,
      {.folder = CacheUnless(options.no_cache), .encode = BulkOptions(options.globals)});
  StopIfAsked();
  search::ReportCounts(found.query_counts, "queries", model->max_tokens(model::TextKind::kQuery));
  search::ReportCounts(found.document_counts, "documents",
                       model->max_tokens(model::TextKind::kDocument));
  return {grades ? search::Grades(rule, found.scores) : std::move(found.scores), rule.text};
}

Scored ScoreByCrossEncoder(const ScoreOptions& options, const data::Dataset& dataset,
                           const data::JudgedPairs& pairs) {
  tensor::SetUpProcess(options.globals.threads);
  model::CrossEncoder model(options.model.model, options.max_pair_tokens);
  model.To(CommandDevice(options.globals));
  const size_t label = search::FindLabel(model, options.label);
  const search::LabelScore rule = options.role() == data::ScoreRole::kGrades
                                      ? search::GradeOf(model, label)
                                      : search::LogitOf(model, label);
  const search::EncodeOptions bulk = BulkOptions(options.globals);
  Note(fmt::format("scoring {} pairs with a cross-encoder ({})", pairs.document_of.size(),
                   model.folder().head.class_name));
  const search::CrossEncoderLogits found =
      search::ScoreByCrossEncoder(model, dataset, pairs,
                                  {.precision = bulk.precision,
                                   .threads = bulk.threads,
                                   .batch_tokens = search::BatchTokensOn(model.device(), bulk),
                                   .label = "score",
                                   .between_batches = [] { StopIfAsked(); }});
  StopIfAsked();
  if (found.truncated > 0) {
    Warn(fmt::format("{} of {} pairs are longer than {} tokens and were cut there", found.truncated,
                     found.pairs, model.max_tokens()));
  }
  Scored scored{.scale = rule.text};
  for (size_t p = 0; p < found.pairs; ++p) {
    scored.scores.push_back(static_cast<float>(
        rule.score(std::span(found.logits).subspan(p * found.labels, found.labels))));
  }
  return scored;
}

Scored Score(const ScoreOptions& options, const data::Dataset& dataset, bool cross_encoder) {
  const data::JudgedPairs pairs = data::JudgedPairsOf(dataset);
  const std::string left = fmt::format("{} was not written{}", options.output,
                                       cross_encoder ? "" : KeptInCache(options.no_cache));
  return UntilStopped(left, [&] {
    return cross_encoder ? ScoreByCrossEncoder(options, dataset, pairs)
                         : ScoreByBiEncoder(options, dataset, pairs);
  });
}

// Refuses flags that have no effect with such a model.
void CheckModelFlags(const ScoreOptions& options, bool cross_encoder) {
  const ModelFlags& model = options.model;
  if (cross_encoder && (model.max_query_tokens || model.max_document_tokens)) {
    throw UsageError(fmt::format(
        "{} is a cross-encoder, which reads query and document together: give --max-pair-tokens "
        "in place of --max-query-tokens and --max-document-tokens",
        model.model));
  }
  if (cross_encoder && model.dimensions) {
    throw UsageError(
        fmt::format("{} is a cross-encoder, which makes no embeddings that --dimensions could cut",
                    model.model));
  }
  if (!cross_encoder && (options.max_pair_tokens || !options.label.empty())) {
    throw UsageError(fmt::format("{} needs a cross-encoder, and {} is none",
                                 options.max_pair_tokens ? "--max-pair-tokens" : "--label",
                                 model.model));
  }
}

}  // namespace

void RunScore(const ScoreOptions& options) {
  const Formats formats = FormatsOf(options);
  const bool cross_encoder = weights::IsCrossEncoder(options.model.model);
  CheckModelFlags(options, cross_encoder);
  const data::Dataset dataset = ReadPairs(options, formats);
  // The format must be able to hold any scores, so it is tested with scores of 0 before the work.
  const std::vector<float> none(data::JudgedPairsOf(dataset).document_of.size());
  data::CheckFormatHolds(data::WithScores(dataset, none, options.role(), formats.to), formats.to,
                         formats.write);
  const Scored scored = Score(options, dataset, cross_encoder);
  const data::WriteCounts counts =
      data::WriteDataset(data::WithScores(dataset, scored.scores, options.role(), formats.to),
                         formats.to, options.output, formats.write);
  const ScoreSummary summary = SummarizeScores(dataset, scored.scores, scored.scale);
  std::cout << (options.format == "json" ? ScoreJson(summary) : ScoreText(summary, OutputStyle()));
  Note(fmt::format("wrote {}: queries {}, documents {}, judgements {}{}", options.output,
                   counts.queries, counts.documents, counts.judgements,
                   counts.lines == 0 ? "" : fmt::format(", lines {}", counts.lines)));
}

}  // namespace tandem::app
