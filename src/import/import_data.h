// Makes a data set, a BEIR folder with splits, of the rows of files that a person has.
//
//   import_data::ImportReport report = import_data::ImportData(options);
//
// Sources are read twice: the first rows for their columns, then all. Memory does not grow with the
// length of documents: it holds 60 bytes for each different document, the different queries with
// their texts, 32 bytes for each judged pair, 24 for each row of a click table, and while splits
// are made 128 bytes for each query.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/interrupt.h"
#include "data/lines/line_rules.h"
#include "import/columns/column_choice.h"
#include "import/grades/click_grades.h"
#include "import/output/rejected_rows.h"
#include "import/sources/open_source.h"
#include "import/splits/holdout.h"

namespace tandem::import_data {

// Opens one of the sources; asked twice for each, first for its columns.
using SourceOpener =
    std::function<std::unique_ptr<RowSource>(const std::string& source, data::Warnings& warnings)>;

struct ImportOptions {
  std::vector<std::string> sources;
  SourceOpener open;  // empty: OpenSource with `source`; rows may come from anything else
  std::filesystem::path output;  // must not exist; not used where `is_trial`
  bool is_trial = false;         // nothing is written
  SourceOptions source;
  Columns columns;  // that are chosen; others are found
  // A BEIR folder, whose documents the rows name instead of holding their texts: the column of
  // documents, and those of negatives, have ids. Empty: they have texts. kNoColumn: they have texts
  // even if these look like names of files.
  std::string corpus;
  std::vector<data::LabelNumber> labels;
  ClickGradeRules clicks;
  double most_rejected = 0.1;             // share of the rows; more is an error
  HoldoutOptions holdout{.share = 0.15};  // share 0: all queries are in train
  std::optional<Split> split;             // of all queries, in place of `holdout`
  StopRequest stop;
};

struct SourceReport {
  std::string file;
  std::string description;           // "CSV, separated by semicolons"
  std::vector<std::string> reasons;  // what each column is taken for, and why
  uint64_t rows = 0;
};

// A document of one of the first rows, as it was understood.
struct ShownRow {
  int64_t line = 0;
  std::string query;
  std::string document;         // with its title
  std::optional<double> grade;  // none: clicks decide, at the end of all rows
};

struct SplitReport {
  uint64_t queries = 0;
  uint64_t judgements = 0;
};

struct ImportReport {
  static constexpr size_t kShownRows = 10;

  std::vector<SourceReport> sources;
  uint64_t rows = 0;
  uint64_t rejected = 0;
  std::vector<RejectedKind> rejected_kinds;
  std::filesystem::path rejected_file;  // empty: there is none
  uint64_t queries = 0;
  uint64_t documents = 0;
  uint64_t judgements = 0;
  // Of an import into a corpus, whose texts `documents` counts.
  uint64_t judged_documents = 0;
  uint64_t cut_documents = 0;         // of them, those that the corpus has as passages alone
  std::map<double, uint64_t> grades;  // judgements of each
  uint64_t repeated = 0;              // pairs of query and document that an earlier row had
  uint64_t contradicting = 0;         // of them, with another grade; the highest one stands
  uint64_t merged_ids = 0;            // ids of documents and queries whose text had another one
  uint64_t empty_negatives = 0;
  uint64_t unjudged_queries = 0;           // left out: nothing is judged for them
  std::map<std::string, uint64_t> thumbs;  // words that were taken for grades
  std::optional<ClickCounts> clicks;
  std::optional<Holdout> holdout;
  uint64_t kept_from_train = 0;  // judgements of train on documents of dev and test, left out
  std::map<Split, SplitReport> splits;
  std::vector<ShownRow> shown;
};

// Writes corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv and, where rows were rejected, rejected.jsonl
// into `options.output`, which appears when it is complete. The same sources and options make the
// same bytes. With `options.corpus` corpus.jsonl is a copy of that folder's, and a row that names a
// document that it lacks is rejected.
//
// Throws UsageError for labels that are below 0, columns that are not found, an output that exists,
// more rejected rows than allowed, no row that can be used (the rejected ones are then in
// OUTPUT.rejected.jsonl), documents that are names of files (CheckDocumentsAreTexts), and splits
// that cannot be made; DataError for files that cannot be read, and for a corpus that is none;
// Interrupted.
ImportReport ImportData(const ImportOptions& options, data::Warnings& warnings);

}  // namespace tandem::import_data
