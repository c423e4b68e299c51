// Summarises judgements and BEIR folders for `tandem inspect`, file by file and in bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "data/summaries/count_spread.h"
#include "data/warnings.h"

namespace tandem::data {

// One file of judgements. Counts of different things are estimates where `is_exact` is false.
struct JudgementSummary {
  uint64_t judgements = 0;  // lines
  uint64_t queries = 0;     // different ones
  uint64_t documents = 0;
  bool is_exact = true;
  uint64_t repeated = 0;       // judged before with the same grade
  uint64_t contradicting = 0;  // judged before with another grade, which no reader accepts

  uint64_t above_zero = 0;
  uint64_t zero = 0;
  uint64_t below_zero = 0;         // "not judged"
  CountSpread relevant_per_query;  // documents with a grade above 0
  double lowest_grade = 0;
  double highest_grade = 0;
  // Judgements by grade; only where the file has at most kMostGrades different grades, else empty.
  std::map<double, uint64_t> grades;
  static constexpr size_t kMostGrades = 32;
};

// Texts of a corpus.jsonl or queries.jsonl.
struct TextSummary {
  uint64_t texts = 0;
  uint64_t bytes = 0;         // of text, titles included
  uint64_t empty = 0;         // nothing but blanks
  uint64_t repeated_ids = 0;  // which no reader accepts
  uint64_t copies = 0;        // texts that an earlier text of the file equals
  bool is_exact = true;       // else the two counts above are estimates
};

struct SplitSummary {
  std::string name;
  JudgementSummary judgements;
  uint64_t unknown_queries = 0;  // judged, but not in queries.jsonl
  uint64_t unknown_documents = 0;
  uint64_t documents_of_passages = 0;  // unknown ones of which corpus.jsonl has passages
};

// The overlap of two splits of a folder: a model that was trained on one of them knows it in the
// other.
struct SplitOverlap {
  std::string first;
  std::string second;
  uint64_t queries = 0;  // with the same id
  uint64_t query_texts =
      0;                   // different texts of queries of both; those of `queries` are among them
  uint64_t documents = 0;  // judged above 0 in both: no leak by itself
};

struct BeirSummary {
  TextSummary corpus;
  TextSummary queries;
  std::vector<SplitSummary> splits;    // by name; only the first 32 are compared
  std::vector<SplitOverlap> overlaps;  // of every two of them
};

// Throws what ReadQrels throws, but counts judgements that contradict each other.
JudgementSummary SummarizeJudgements(const std::filesystem::path& path, Warnings& warnings);

// Throws what TextStream throws, but counts ids that come twice.
TextSummary SummarizeTexts(const std::filesystem::path& path, Warnings& warnings);

// A BEIR folder; qrels may be missing. Throws DataError for a folder without corpus or queries, and
// what reading its files throws.
BeirSummary SummarizeBeir(const std::filesystem::path& folder, Warnings& warnings);

}  // namespace tandem::data
