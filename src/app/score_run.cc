// The work of `tandem score`.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "app/globals.h"
#include "app/load_model.h"
#include "app/score_command.h"
#include "app/score_report.h"
#include "app/signal_watch.h"
#include "base/cache_folder.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "data/read_dataset.h"
#include "data/write_dataset.h"
#include "search/bi_encoder_scores.h"
#include "search/grade_rule.h"

namespace tandem::app {
namespace {

// What is read and written, decided before any work.
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
      data::ReadDataset(options.dataset, formats.from, options.split_or_default());
  if (const size_t dropped = data::DropUnjudged(dataset)) {
    Warn(fmt::format("{}: {} judgements below 0 say \"not judged\" and are left out", dataset.file,
                     dropped));
  }
  if (dataset.scores != data::ScoreKind::kNone) {
    Note(fmt::format("{}: its scores give way to the model's", dataset.file));
  }
  return dataset;
}

struct Scored {
  std::vector<float> scores;  // [P]
  std::string scale;          // what they are
};

// Stops the scoring where a signal came.
void StopIfAsked(const ScoreOptions& options, bool cached) {
  const int signal = SignalWatch::Received();
  if (signal == 0) return;
  throw Interrupted(signal, fmt::format("interrupted; {} was not written{}", options.output,
                                        cached ? "; the next call finds the embeddings that were "
                                                 "made so far"
                                               : ""));
}

Scored ScoreByBiEncoder(const ScoreOptions& options, const data::Dataset& dataset,
                        const data::JudgedPairs& pairs) {
  const auto model = LoadModel(options.model, dataset.query_prompt);
  const bool grades = options.role() == data::ScoreRole::kGrades;
  search::GradeRule rule{.similarity = model->similarity(), .text = model->similarity()};
  if (grades) rule = search::GradeRuleOf(*model);
  search::BiEncoderScores found = search::ScoreByEmbeddings(
      *model, dataset, pairs, rule.similarity,
      {.folder = options.no_cache ? std::filesystem::path() : CacheFolder(),
       .encode = BulkOptions(),
       .between_blocks = [&] { StopIfAsked(options, !options.no_cache); }});
  StopIfAsked(options, !options.no_cache);
  search::ReportCounts(found.query_counts, "queries", model->max_tokens(model::TextKind::kQuery));
  search::ReportCounts(found.document_counts, "documents",
                       model->max_tokens(model::TextKind::kDocument));
  return {grades ? search::Grades(rule, found.scores) : std::move(found.scores), rule.text};
}

Scored Score(const ScoreOptions& options, const data::Dataset& dataset) {
  const SignalWatch signals;  // a signal while the results are written ends the program at once
  const data::JudgedPairs pairs = data::JudgedPairsOf(dataset);
  return ScoreByBiEncoder(options, dataset, pairs);
}

}  // namespace

void RunScore(const ScoreOptions& options) {
  const Formats formats = FormatsOf(options);
  const data::Dataset dataset = ReadPairs(options, formats);
  // Whatever the scores will be, the format must hold them: it shows before the work.
  const std::vector<float> none(data::JudgedPairsOf(dataset).document_of.size());
  data::CheckFormatHolds(data::WithScores(dataset, none, options.role(), formats.to), formats.to,
                         formats.write);
  const Scored scored = Score(options, dataset);
  const data::WriteCounts counts =
      data::WriteDataset(data::WithScores(dataset, scored.scores, options.role(), formats.to),
                         formats.to, options.output, formats.write);
  const ScoreSummary summary = SummarizeScores(dataset, scored.scores, scored.scale);
  std::cout << (options.format == "json" ? ScoreJson(summary) : ScoreText(summary));
  Note(fmt::format("wrote {}: queries {}, documents {}, judgements {}{}", options.output,
                   counts.queries, counts.documents, counts.judgements,
                   counts.lines == 0 ? "" : fmt::format(", lines {}", counts.lines)));
}

}  // namespace tandem::app
