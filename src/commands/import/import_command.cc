// `tandem import`: makes a data set of the tables and JSON files that a person has.
#include "commands/import/import_command.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/globals.h"
#include "cli/process/signal_watch.h"
#include "commands/holdout_flags.h"
#include "commands/inspect/inspection.h"
#include "commands/line_flags.h"
#include "import/import_data.h"

namespace tandem::app {
namespace {

struct ImportFlags {
  std::vector<std::string> sources;
  std::string output;
  bool dry_run = false;
  std::string from = "auto";
  std::string delimiter;
  bool no_quotes = false;
  int64_t header_line = 1;
  import_data::Columns columns;
  std::string corpus;
  std::string split;
  std::string labels;
  int64_t least_impressions = 10;
  std::string most_rejected = "10%";
  HoldoutFlags holdout;
  std::string format = "text";
};

std::optional<char> DelimiterOf(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name == "comma") return ',';
  if (name == "semicolon") return ';';
  if (name == "tab" || name == "\\t") return '\t';
  if (name == "bar") return '|';
  const auto c = static_cast<unsigned char>(name[0]);
  if (name.size() == 1 && c != '"' && c != '\r' && c != '\n' && c != 0 && c < 0x80) return name[0];
  throw UsageError(fmt::format(
      "--delimiter is \"{}\"; expected comma, semicolon, tab, bar, or one character of ASCII other "
      "than the quote",
      name));
}

// The split that all queries are of; none: --holdout makes splits.
std::optional<import_data::Split> SplitOf(const ImportFlags& flags) {
  if (!flags.split.empty() && flags.holdout.share) {
    throw UsageError(
        "--split puts all queries into one split, and --holdout makes three: give one");
  }
  for (const import_data::Split split :
       {import_data::Split::kTrain, import_data::Split::kDev, import_data::Split::kTest}) {
    if (flags.split == import_data::SplitName(split)) return split;
  }
  const bool has_corpus = !flags.corpus.empty() && flags.corpus != import_data::kNoColumn;
  if (has_corpus && !flags.holdout.share) return import_data::Split::kTest;
  return std::nullopt;
}

import_data::ImportOptions OptionsOf(const ImportFlags& flags, uint64_t seed) {
  if (flags.output.empty() && !flags.dry_run) {
    throw UsageError("--output is missing: the folder to write (or --dry-run, which writes none)");
  }
  return {.sources = flags.sources,
          .output = flags.output,
          .is_trial = flags.dry_run,
          .source = {.format = flags.from,
                     .delimiter = DelimiterOf(flags.delimiter),
                     .quotes = !flags.no_quotes,
                     .header_line = flags.header_line},
          .columns = flags.columns,
          .corpus = flags.corpus,
          .labels = ParseLabels(flags.labels),
          .clicks = {.least_impressions = static_cast<uint64_t>(flags.least_impressions)},
          .most_rejected = import_data::ParseShare(flags.most_rejected, "--max-rejected", 1),
          .holdout = HoldoutOptionsOf(flags.holdout, seed),
          .split = SplitOf(flags),
          .stop = SignalWatch::Received};
}

void RunImport(const ImportFlags& flags, uint64_t seed) {
  const import_data::ImportOptions options = OptionsOf(flags, seed);
  const SignalWatch signals;
  data::Warnings warnings;
  const import_data::ImportReport report = import_data::ImportData(options, warnings);
  warnings.Report();
  WarnOfImport(report);
  const ImportView view{.rows = flags.dry_run, .whole_texts = flags.format == "json"};
  PrintInspection(ImportJson(report, view), flags.format);
  if (flags.dry_run) {
    Note("nothing was written (--dry-run)");
  } else {
    Note(fmt::format("wrote {}: queries {}, documents {}, judgements {}", flags.output,
                     report.queries, report.documents, report.judgements));
  }
}

void AddColumnFlags(Flags& flags, import_data::Columns& columns) {
  flags
      .Add("--query", columns.query,
           "Column of queries; without it names and contents tell, and what was found is said. "
           "\"-\" "
           "for one of the other columns: there is none")
      .Takes("COLUMN");
  flags.Add("--document", columns.document, "Column of documents that are relevant to the query")
      .Takes("COLUMN");
  flags
      .Add("--negative", columns.negatives,
           "Column of documents that are not relevant; may be given several times")
      .OneValueEachTime()
      .Takes("COLUMN");
  flags.Add("--label", columns.label, "Column that says how relevant the document is")
      .Takes("COLUMN");
  flags.Add("--title", columns.title, "Column of the document's title").Takes("COLUMN");
  flags.Add("--id", columns.id, "Column of the document's id (default: made of its text)")
      .Takes("COLUMN");
  flags.Add("--query-id", columns.query_id, "Column of the query's id (default: made of its text)")
      .Takes("COLUMN");
  flags
      .Add("--group", columns.group,
           "Column whose equal values keep their queries in one split (a customer, a product)")
      .Takes("COLUMN");
  flags.Add("--clicks", columns.clicks, "Column of clicks on the document").Takes("COLUMN");
  flags
      .Add("--impressions", columns.impressions,
           "Column that says how often the document was shown for the query")
      .Takes("COLUMN");
  flags
      .Add("--position", columns.position,
           "Column of the place at which it was shown, from 1: clicks are compared with those of "
           "an average document there")
      .Takes("COLUMN");
}

CommandBody ConfigureImport(Flags& flags) {
  const auto options = std::make_shared<ImportFlags>();
  flags
      .Add("sources", options->sources,
           "Files: CSV, TSV, JSON lines, JSON arrays; each also gzipped")
      .Required();
  flags.Add("-o,--output", options->output, "BEIR folder to write; must not exist").Takes("FOLDER");
  flags.AddSwitch("--dry-run", options->dry_run,
                  "Write nothing; show the first ten rows as they are understood, and all counts");
  flags.Add("--from", options->from, "Format of the files; auto: by name and first character")
      .OneOf({"auto", "csv", "tsv", "jsonl", "json"})
      .ShowDefault();
  AddColumnFlags(flags, options->columns);
  flags
      .Add("--corpus", options->corpus,
           "BEIR folder whose documents the rows name: the column of documents has their ids, such "
           "as names of files, and not their texts; its corpus.jsonl is copied. \"-\": rows hold "
           "texts, though these look like names")
      .Takes("FOLDER");
  flags
      .Add("--split", options->split,
           "The split that all queries are of, in place of those of --holdout")
      .OneOf({"train", "dev", "test"})
      .ShowDefault("with --corpus and without --holdout: test");
  flags.Add("--labels", options->labels,
            "The numbers that labels stand for, as up=1,down=0; then every label must be one of "
            "these");
  flags
      .Add("--min-impressions", options->least_impressions,
           "Of click tables: pairs that were shown less often are left out")
      .Between(1, 1'000'000'000)
      .ShowDefault();
  AddHoldoutFlags(flags, options->holdout, "15%");
  flags
      .Add("--max-rejected", options->most_rejected,
           "Share of the rows that may be unusable; more is an error (exit 2)")
      .Takes("SHARE")
      .ShowDefault();
  flags
      .Add("--delimiter", options->delimiter,
           "What separates columns: comma, semicolon, tab, bar or a character")
      .ShowDefault("the file's start tells");
  flags.AddSwitch("--no-quotes", options->no_quotes,
                  "Read quotes as plain characters, for tables that quote nothing");
  flags
      .Add("--header-line", options->header_line,
           "Line with the names of the columns; 0: none has, and columns are called 1, 2, 3, ...")
      .Between(0, 1'000'000'000)
      .ShowDefault();
  flags.Add("--format", options->format, "text or json").OneOf({"text", "json"}).ShowDefault();
  return [options](const Globals& globals) { RunImport(*options, SeedOf(globals)); };
}

constexpr Example kImportExamples[] = {
    {"tandem import faq.csv -o data/faq", "Find the columns, make the splits train, dev and test"},
    {"tandem import questions.csv --corpus data/wiki -o data/asked",
     "Judge documents of a corpus that is there: each row has a question and an id"},
    {"tandem import clicks.tsv --dry-run",
     "Show ten rows as they are understood, and write nothing"},
};

}  // namespace

extern const Command kImportCommand{
    {.name = "import", .summary = "Make a data set of tables and JSON: CSV, TSV, click logs"},
    ConfigureImport,
    kImportExamples};

}  // namespace tandem::app
