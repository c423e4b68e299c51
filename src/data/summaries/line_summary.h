// Summarises a file of training lines for `tandem inspect`, in one reading and bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/lines/line_rules.h"
#include "data/summaries/count_spread.h"
#include "data/warnings.h"

namespace tandem::data {

// A key of the first lines.
struct LineColumn {
  std::string name;
  std::string type;    // "string", "list of strings", ...: of the first line that has it
  uint64_t lines = 0;  // of the first lines that have it
};

// A document of one of the first lines, as it was understood.
struct ShownDocument {
  int64_t line = 0;
  std::string query;
  std::string document;
  bool is_positive = false;  // by its label, else by the list that it stands in
  bool is_graded = false;    // its score is a grade, and says neither by itself
  double score = kNoScore;
};

struct LineSummary {
  static constexpr uint64_t kFirstLines = 1000;   // whose columns are looked at
  static constexpr uint64_t kShownLines = 10;     // whose documents are shown
  static constexpr uint64_t kShownDocuments = 8;  // of a line
  static constexpr size_t kMostScores = 20;       // that are counted one by one

  std::string format;  // as data.format spells it
  uint64_t lines = 0;  // with an example
  std::vector<LineColumn> columns;
  std::map<std::string, uint64_t> ignored;  // lines with a value that no training reads, by key

  // Different ones: by text, for Tevatron by id. Estimates where `is_exact` is false.
  uint64_t queries = 0;
  uint64_t documents = 0;
  bool is_exact = true;

  uint64_t positives = 0;  // on all lines, with repeats
  uint64_t negatives = 0;
  uint64_t graded = 0;  // neither: their scores are grades
  CountSpread positives_per_line;
  CountSpread negatives_per_line;
  uint64_t repeated_pairs = 0;       // a query's positive or negative that it had before
  uint64_t contradicting_pairs = 0;  // positive and negative of one query
  uint64_t empty_texts = 0;
  uint64_t skipped = 0;  // negatives that are null or empty
  uint64_t text_bytes = 0;

  ScoreKind scores = ScoreKind::kNone;
  ScoreMeaning meaning = ScoreMeaning::kNone;
  UndecidedScore undecided;  // of kUndecided
  uint64_t scored = 0;       // documents with a score, on all lines
  double lowest_score = 0;
  double highest_score = 0;
  // Documents by their score, on all lines; empty where there are more than kMostScores scores.
  std::map<double, uint64_t> by_score;

  std::vector<ShownDocument> shown;  // of the first lines
};

// Reads a file, plain or gzip, of `format` (not "auto"). Refuses what the readers of the format
// refuse, and a file without examples: DataError. What the line reader sets right (blank lines,
// CR LF) is counted in `warnings`.
LineSummary SummarizeLines(const std::filesystem::path& path, std::string_view format,
                           const LineRules& rules, Warnings& warnings);

// "labels", "grades", "undecided", "teacher"; "none".
std::string_view ScoreMeaningName(ScoreMeaning meaning);
// "lists", "pairs", ...; "none".
std::string_view ScoreKindName(ScoreKind kind);

}  // namespace tandem::data
