// `tandem convert`: writes a data set in another format.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/globals.h"
#include "commands/holdout_flags.h"
#include "commands/line_flags.h"
#include "data/judgements/grades.h"
#include "data/lines/score_meaning.h"
#include "data/read_dataset.h"
#include "data/write_dataset.h"
#include "import/splits/split_dataset.h"

namespace tandem::app {
namespace {

struct ConvertOptions {
  std::string dataset;
  std::string to;
  std::string output;
  std::string from = "auto";
  std::string split;  // "": train
  std::string scores = "kept";
  std::optional<double> positive_grade;
  std::optional<size_t> negatives;
  LineFlags lines;
  HoldoutFlags holdout;

  std::string split_or_default() const { return split.empty() ? "train" : split; }
};

data::WriteOptions WriteOptionsOf(const ConvertOptions& options) {
  return {.split = options.split_or_default(),
          .positive_grade = options.positive_grade,
          .negatives = options.negatives};
}

// Refuses flags that have no effect with these data.
void CheckFlags(const ConvertOptions& options, const data::Dataset& dataset) {
  const bool from_folder = dataset.has_grades;
  if (!options.split.empty() && !from_folder && options.to != "beir") {
    throw UsageError(
        fmt::format("--split names a split of a BEIR folder, but {} is none and none "
                    "is written",
                    options.dataset));
  }
  if (options.scores != "kept" && dataset.scores == data::ScoreKind::kNone) {
    throw UsageError(fmt::format("--scores {} says what to do with scores, but {} has none",
                                 options.scores, options.dataset));
  }
  if (options.positive_grade && !from_folder && options.scores != "grades") {
    throw UsageError(fmt::format(
        "--positive-grade needs grades, but {} only tells positives from negatives{}",
        options.dataset,
        dataset.scores == data::ScoreKind::kNone ? ""
                                                 : "; --scores grades takes its scores as grades"));
  }
}

// Refuses to make positives of documents if only their scores could say whether they are positives.
// Formats with columns keep such pairs as they are.
void CheckDecided(const ConvertOptions& options, const data::Dataset& dataset) {
  if (options.scores != "kept") return;
  if (dataset.meaning == data::ScoreMeaning::kUndecided) throw data::NeedsRule(dataset);
  data::CheckPairsHaveLabels(dataset);
  const bool has_lists = options.to == "flag_embedding" || options.to == "tevatron";
  if (!has_lists || dataset.meaning != data::ScoreMeaning::kGrades) return;
  throw UsageError(fmt::format(
      "{}: its scores are grades of pairs, and {} has lists of positives and negatives: say from "
      "which grade on a document is a positive, by --scores grades --positive-grade G, or --scores "
      "grades alone, which makes positives of all grades above 0",
      options.dataset, options.to));
}

void UseScores(const ConvertOptions& options, data::Dataset& dataset) {
  if (options.scores == "grades") data::ApplyScores(dataset, data::ScoreUse::kGrades);
  if (options.scores == "ignored") data::ApplyScores(dataset, data::ScoreUse::kIgnored);
}

void CheckHoldout(const ConvertOptions& options, double share) {
  if (share == 0) {
    if (options.holdout.split_by == "documents") return;
    throw UsageError(
        "--split-by says what splits must not share; there are none without --holdout");
  }
  if (options.to != "beir") {
    throw UsageError(fmt::format(
        "--holdout makes splits of a BEIR folder (--to beir), and {} has none", options.to));
  }
  if (options.split.empty()) return;
  throw UsageError(
      "--split names the split that is read and written; --holdout makes three of the "
      "split train");
}

std::string SplitCounts(const import_data::Holdout& holdout) {
  return fmt::format(", queries with a positive in train {}, dev {}, test {}", holdout.train,
                     holdout.dev, holdout.test);
}

void RunConvert(const ConvertOptions& options, uint64_t seed) {
  data::WriteOptions write = WriteOptionsOf(options);
  const import_data::HoldoutOptions holdout = HoldoutOptionsOf(options.holdout, seed);
  CheckHoldout(options, holdout.share);
  data::CheckWriteRequest(options.to, options.output, write);  // before the data are read
  data::Dataset dataset =
      data::ReadDataset(options.dataset, options.from, options.split_or_default(),
                        LineRulesOf(options.lines, options.dataset));
  CheckFlags(options, dataset);
  CheckDecided(options, dataset);
  UseScores(options, dataset);
  std::string splits;
  if (holdout.share > 0) {
    splits = SplitCounts(import_data::SplitDataset(dataset, holdout, &write));
  }
  const data::WriteCounts counts = data::WriteDataset(dataset, options.to, options.output, write);
  Note(fmt::format("wrote {}: queries {}, documents {}, judgements {}{}{}", options.output,
                   counts.queries, counts.documents, counts.judgements,
                   counts.lines == 0 ? "" : fmt::format(", lines {}", counts.lines), splits));
}

CommandBody ConfigureConvert(Flags& flags) {
  const auto options = std::make_shared<ConvertOptions>();
  flags
      .Add("data", options->dataset,
           "BEIR folder, or file of training lines (JSON, CSV or TSV, also gzipped)")
      .Required();
  flags.Add("--to", options->to, "Format to write")
      .OneOf({"beir", "sentence_transformers", "flag_embedding", "tevatron"})
      .Required();
  flags
      .Add("--output", options->output,
           "Folder (beir) or file to write; gzipped where its name ends in .gz; must not exist")
      .Required();
  flags
      .Add("--from", options->from,
           "Format of the data; auto: a folder is beir, a file by its keys")
      .OneOf({"auto", "beir", "sentence_transformers", "flag_embedding", "tevatron"})
      .ShowDefault();
  flags.Add("--split", options->split, "Split of a BEIR folder, that is read or written")
      .ShowDefault("train");
  flags
      .Add("--scores", options->scores,
           "Scores of lines: kept as they are, taken as grades, or ignored")
      .OneOf({"kept", "grades", "ignored"})
      .ShowDefault();
  flags.Add("--positive-grade", options->positive_grade,
            "Lowest grade of a positive; lower ones above 0 are left out, and lines have no grades "
            "(default: above 0, and lines have the grades where there are more than 0 and 1)");
  flags.Add("--negatives", options->negatives,
            "Negatives in each line of sentence_transformers; queries with fewer are left out "
            "(default: as many as the query with the fewest)");
  AddLineFlags(flags, options->lines);
  AddHoldoutFlags(flags, options->holdout, "0");
  return [options](const Globals& globals) { RunConvert(*options, SeedOf(globals)); };
}

constexpr Example kConvertExamples[] = {
    {"tandem convert triplets.jsonl --to beir --output data/mine",
     "Make a BEIR folder of training lines"},
    {"tandem convert data/mine --to flag_embedding --output mine.jsonl",
     "Make training lines of a BEIR folder"},
};

}  // namespace

extern const Command kConvertCommand{
    {.name = "convert", .summary = "Write a data set in another format"},
    ConfigureConvert,
    kConvertExamples};

}  // namespace tandem::app
