// The work of `tandem prune`.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"
#include "base/process/interrupt.h"
#include "base/progress.h"
#include "cli/output_style.h"
#include "cli/process/job.h"
#include "cli/process/signal_watch.h"
#include "commands/model/load_model.h"
#include "commands/prune/prune_command.h"
#include "commands/prune/prune_report.h"
#include "commands/until_stopped.h"
#include "data/formats/sentence_transformers.h"
#include "data/judgements/grades.h"
#include "data/read_dataset.h"
#include "data/studies/without_pairs.h"
#include "data/training_set.h"
#include "data/write_dataset.h"
#include "sampling/pruning/keep.h"
#include "train/inputs/run_data.h"
#include "train/scoring/base_scores.h"

namespace tandem::app {
namespace {

std::string FormatOf(const PruneOptions& options) {
  if (options.from != "auto") return options.from;
  if (std::filesystem::is_directory(options.dataset)) return "beir";
  return std::string(data::FormatOfLines(options.dataset));
}

train::PairScores Score(const PruneOptions& options, const data::TrainingSet& set,
                        const sampling::Examples& examples, const std::string& query_prompt) {
  const bool consistency = options.score == "consistency";
  std::vector<uint32_t> query_texts;
  for (const data::TrainingQuery& query : set.examples) query_texts.push_back(query.query);
  const train::PairSource source{.examples = examples,
                                 .query_texts = query_texts,
                                 .queries = set.queries,
                                 .documents = set.documents};
  if (consistency && !train::HasCandidates(source)) {
    throw UsageError(fmt::format("--score {}", train::kNoCandidates));
  }
  const auto model = LoadModel(options.globals, options.model, query_prompt);
  train::PairScores scores =
      train::ScorePairs(*model, source,
                        {.consistency = consistency,
                         .seed = SeedOf(options.globals),
                         .cache = {.folder = CacheUnless(options.no_cache),
                                   .encode = BulkOptions(options.globals),
                                   .between_blocks = [] { StopIfAsked(); }}});
  StopIfAsked();
  search::ReportCounts(scores.query_counts, "queries", model->max_tokens(model::TextKind::kQuery));
  search::ReportCounts(scores.document_counts, "documents",
                       model->max_tokens(model::TextKind::kDocument));
  Note(fmt::format("scored {} pairs in {}, {} of it for the embeddings of {} texts",
                   scores.cosines.size(), FormatDuration(scores.seconds),
                   FormatDuration(scores.encode_seconds), scores.encoded()));
  return scores;
}

// Scores until a signal comes. One that comes while the results are written ends the program at
// once.
train::PairScores ScoreUntilStopped(const PruneOptions& options, const data::TrainingSet& set,
                                    const sampling::Examples& examples,
                                    const std::string& query_prompt) {
  const SignalWatch signals;
  try {
    return Score(options, set, examples, query_prompt);
  } catch (const Interrupted&) {  // says less than the message below
    throw Interrupted(SignalWatch::Received(),
                      fmt::format("interrupted; {} was not written{}", options.output,
                                  KeptInCache(options.no_cache)));
  }
}

// The columns of the output have the names that the input's have.
data::WriteOptions WriteOptionsOf(const PruneOptions& options, const std::string& format) {
  data::WriteOptions write{.split = options.split_or_default()};
  if (format != "sentence_transformers" || !std::filesystem::exists(options.dataset)) return write;
  const data::ColumnNames names = data::ColumnNamesOf(options.dataset);
  write.query_column = names.query;
  write.document_column = names.positive;
  write.score_column = names.score;
  return write;
}

// Returns how many pairs are kept. Throws UsageError if none is.
size_t KeptCount(const PruneOptions& options, size_t pairs) {
  const size_t count = sampling::KeptCount(pairs, options.keep);
  if (count > 0) return count;
  throw UsageError(fmt::format("--keep is {}, which leaves none of {} pairs; give at least {:.2g}",
                               options.keep, pairs, 1 / static_cast<double>(pairs)));
}

// Returns the path of the histogram. Throws UsageError if there is a file already, OutputError if
// none can be written.
std::filesystem::path HistogramFile(const PruneOptions& options) {
  std::string output = options.output;
  while (output.size() > 1 && output.back() == '/') output.pop_back();
  const std::filesystem::path file = output + ".histogram.tsv";
  if (std::filesystem::exists(file)) {
    throw UsageError(fmt::format(
        "{}: exists already, and the histogram goes there; remove it, or give another --output",
        file.native()));
  }
  const AtomicFile writable(file);
  return file;
}

// Rank 0 of a group checks the output before anything is read. Returns the path of the histogram.
std::filesystem::path CheckOutput(const PruneOptions& options, const std::string& format,
                                  const data::WriteOptions& write) {
  data::CheckWriteRequest(format, options.output, write);
  return HistogramFile(options);
}

void PruneInGroup(const PruneOptions& options, dist::ProcessGroup& group) {
  const std::string format = FormatOf(options);
  const data::WriteOptions write = WriteOptionsOf(options, format);
  std::filesystem::path histogram_file;
  group.Agree([&] {
    if (group.leads()) histogram_file = CheckOutput(options, format, write);
  });
  const data::Dataset dataset =
      data::ReadDataset(options.dataset, format, options.split_or_default(),
                        LineRulesOf(options.lines, options.dataset));
  data::CheckFormatHolds(dataset, format, write);
  data::Dataset graded = dataset;  // a copy, because the output keeps the scores
  data::SettleScores(graded, options.positive_grade.has_value());
  const double positive_grade = options.positive_grade_or_default();
  const std::vector<data::DatasetPair> pairs = data::PairsOf(graded, positive_grade);
  const data::TrainingSet set = data::BuildTrainingSet(std::move(graded), positive_grade);
  std::vector<uint32_t> all(set.examples.size());
  std::iota(all.begin(), all.end(), 0);
  const sampling::Examples examples = train::MakeExamples(set, positive_grade, all);
  const size_t count = KeptCount(options, pairs.size());
  const train::PairScores scores = ScoreUntilStopped(options, set, examples, dataset.query_prompt);
  if (!group.leads()) return;
  const std::vector<bool> kept =
      sampling::BestPairs(RankingOf(scores.cosines, scores.reciprocal_ranks), count);
  const PrunedPairs pruned{dataset, pairs, scores.cosines, scores.reciprocal_ranks, kept};
  const data::PairLoss loss = data::CountLoss(pairs, kept);
  data::WriteDataset(data::WithoutPairs(dataset, pairs, kept), format, options.output, write);
  WriteFileAtomically(histogram_file, HistogramTsv(HistogramsOf(pruned)));
  std::cout << (options.format == "json" ? PruneJson(pruned, loss, options.review)
                                         : PruneText(pruned, loss, options.review, OutputStyle()));
  Note(fmt::format("{} of {} pairs -> {}", loss.kept_pairs, loss.pairs, options.output));
}

}  // namespace

void RunPrune(const PruneOptions& options) {
  RunInGroup("prune", options.job,
             [&options](dist::ProcessGroup& group) { PruneInGroup(options, group); });
}

}  // namespace tandem::app
