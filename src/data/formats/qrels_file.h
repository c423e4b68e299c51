// Reading judgements: TREC's four columns or BEIR's three, told apart by the first line.
#pragma once

#include <filesystem>

#include "data/input/line_reader.h"
#include "data/judgements/qrels.h"
#include "data/warnings.h"

namespace tandem::data {

// TREC: `query iteration document grade`, separated by blanks; the iteration is ignored. BEIR:
// `query-id<TAB>corpus-id<TAB>score`, with or without that header line; ids may hold spaces. A file
// whose first line has exactly three tab-separated fields is BEIR's. A header may have other names
// for the three columns (query_id, qid; doc_id, docid; relevance, rel, label; ...), in any order,
// with others beside them, which are counted, and commas or blanks between them. Plain or gzip.
// Grades may be fractions; a negative one means "not judged", as in trec_eval.
//
// The same judgement twice is counted; two grades for one query and document are a DataError that
// names both lines, and so are a line with another number of fields, a grade that is not a finite
// number, and a file without any judgement. What is counted goes to `warnings`, or to stderr where
// null.
Qrels ReadQrels(const std::filesystem::path& path, Warnings* warnings = nullptr);

// Reads the same formats from an open reader.
Qrels ReadQrels(LineReader& reader);

// Says where a file has what. Without a header it has BEIR's three columns, or TREC's lines.
struct QrelsColumns {
  enum class Separator { kTab, kComma, kBlank };
  static constexpr size_t kMost = 16;

  Separator separator = Separator::kTab;
  size_t count = 3;
  size_t query = 0, document = 1, grade = 2;
  bool has_header = false;
  bool is_trec = false;
};

struct QrelsLine {
  std::string_view query;
  std::string_view document;
  double grade = 0;
};

// The judgements of an open reader, one by one; the same one may come twice, and with two grades.
// All else is checked as ReadQrels does.
class QrelsStream {
 public:
  // `reader` must outlive the stream.
  explicit QrelsStream(LineReader& reader) : reader_(reader) {}

  // False at the end. The views are valid until the next call. Throws DataError, also at the end of
  // a file without any judgement.
  bool Next(QrelsLine* line);

 private:
  LineReader& reader_;
  bool begun_ = false;  // the first line was looked at
  QrelsColumns columns_;
  bool any_ = false;
};

}  // namespace tandem::data
