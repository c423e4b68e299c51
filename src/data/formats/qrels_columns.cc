// Judgements in columns: BEIR's `query-id<TAB>corpus-id<TAB>score`, and what other programs write
// under a header that names the same columns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file_kind.h"
#include "data/formats/qrels_line.h"
#include "data/input/fields.h"

namespace tandem::data {
namespace {

using Separator = QrelsColumns::Separator;
using Fields = std::array<std::string_view, QrelsColumns::kMost>;

constexpr std::string_view kExpected =
    "expected BEIR's columns, query-id, corpus-id and score, separated by tabs, or TREC's, query, "
    "iteration, document and grade, separated by blanks";

// Spellings of each column's name, without case, hyphens, underscores and blanks.
constexpr std::string_view kQueryColumnNames[] = {"queryid", "query",   "qid",
                                                  "q",       "topicid", "topic"};
constexpr std::string_view kDocumentColumnNames[] = {
    "corpusid", "corpus",    "documentid", "document",  "docid", "doc",
    "docno",    "passageid", "passage",    "productid", "pid",   "did"};
constexpr std::string_view kGradeColumnNames[] = {"score",          "relevance", "relevancescore",
                                                  "relevancelabel", "rel",       "grade",
                                                  "label",          "judgement", "judgment"};
constexpr std::string_view kIterationColumnNames[] = {"iteration", "iter", "q0", "unused"};

template <size_t kCount>
bool IsAmong(std::string_view name, const std::string_view (&names)[kCount]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == ' ' || c == '.') continue;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

// A field of a comma-separated line, without the quotes around it.
std::string_view Unquoted(std::string_view field) {
  if (field.size() < 2 || !field.starts_with('"') || !field.ends_with('"')) return field;
  return field.substr(1, field.size() - 2);
}

size_t SplitAtCommas(std::string_view line, std::span<std::string_view> fields) {
  size_t count = 0;
  while (true) {
    const size_t comma = line.find(',');
    if (count < fields.size()) fields[count] = Unquoted(line.substr(0, comma));
    ++count;
    if (comma == std::string_view::npos) return count;
    line.remove_prefix(comma + 1);
  }
}

size_t Split(std::string_view line, Separator separator, Fields& fields) {
  switch (separator) {
    case Separator::kTab:
      return SplitAtTabs(line, fields);
    case Separator::kComma:
      return SplitAtCommas(line, fields);
    case Separator::kBlank:
      break;
  }
  return SplitAtBlanks(line, fields);
}

// The only sensible one for a first line.
Separator SeparatorOf(std::string_view line) {
  if (line.find('\t') != line.npos) return Separator::kTab;
  const bool comma = line.find(',') != line.npos;
  return comma && SplitAtBlanks(line, {}) != 4 ? Separator::kComma : Separator::kBlank;
}

std::string Shown(std::span<const std::string_view> names) {
  return fmt::format("\"{}\"", fmt::join(names, "\", \""));
}

// Puts the header's columns into place.
class HeaderReader {
 public:
  HeaderReader(LineReader& reader, Separator separator, std::span<const std::string_view> names)
      : reader_(reader), names_(names) {
    columns_.separator = separator;
    columns_.count = names.size();
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string name = Plain(names[i]);
      if (IsAmong(name, kQueryColumnNames)) {
        Put(i, "queries", &query_);
      } else if (IsAmong(name, kDocumentColumnNames)) {
        Put(i, "documents", &document_);
      } else if (IsAmong(name, kGradeColumnNames)) {
        Put(i, "grades", &grade_);
      } else if (!IsAmong(name, kIterationColumnNames)) {
        others_.push_back(names[i]);
      }
    }
  }

  QrelsColumns Columns() {
    if (!query_ || !document_ || !grade_) {
      throw reader_.Error(fmt::format(
          "the first line is neither a judgement nor a header with known names of all three "
          "columns: it has {}; {}",
          Shown(names_), kExpected));
    }
    columns_.query = *query_;
    columns_.document = *document_;
    columns_.grade = *grade_;
    for (const std::string_view other : others_) {
      reader_.warnings().Count(reader_.file(),
                               fmt::format("columns \"{}\" beside the judgements, ignored", other),
                               reader_.line_number());
    }
    return columns_;
  }

 private:
  void Put(size_t column, std::string_view what, std::optional<size_t>* place) {
    if (*place) {
      throw reader_.Error(fmt::format("the header has two columns of {}: \"{}\" and \"{}\"", what,
                                      names_[**place], names_[column]));
    }
    *place = column;
  }

  LineReader& reader_;
  std::span<const std::string_view> names_;
  std::vector<std::string_view> others_;
  std::optional<size_t> query_, document_, grade_;
  QrelsColumns columns_;
};

}  // namespace

QrelsColumns FindQrelsColumns(LineReader& reader, std::string_view first_line) {
  if (const std::string problem = NoDataProblem(first_line, reader.file()); !problem.empty()) {
    throw reader.Error(problem);
  }
  const Separator separator = SeparatorOf(first_line);
  Fields fields;
  const size_t count = Split(first_line, separator, fields);
  const std::span<const std::string_view> found(fields.data(), std::min(count, fields.size()));
  const bool has_number = std::any_of(found.begin(), found.end(), [](std::string_view field) {
    return ParseNumber(field).has_value();
  });
  // Every judgement has a number, its grade.
  if (!has_number && count >= 3 && count <= fields.size()) {
    QrelsColumns columns = HeaderReader(reader, separator, found).Columns();
    columns.has_header = true;
    return columns;
  }
  if (separator == Separator::kComma && count >= 3) {
    throw reader.Error(fmt::format(
        "has columns separated by commas and no header, such as query-id,corpus-id,score, that "
        "says which is which; {}",
        kExpected));
  }
  if (separator == Separator::kTab && count == 3) return {};
  return {.separator = Separator::kBlank, .is_trec = true};
}

QrelsLine ParseQrelsColumns(const LineReader& reader, const QrelsColumns& columns,
                            std::string_view line) {
  Fields fields;
  const size_t count = Split(line, columns.separator, fields);
  if (count != columns.count) {
    if (columns.has_header) {
      throw reader.Error(fmt::format("has {} column{}; the header has {}", count,
                                     count == 1 ? "" : "s", columns.count));
    }
    throw reader.Error(
        fmt::format("has {} tab-separated fields; expected 3 (query-id corpus-id score)", count));
  }
  const std::string_view query = fields[columns.query], document = fields[columns.document];
  if (query.empty() || document.empty()) throw reader.Error("has an empty id");
  return {query, document, ParseGrade(reader, fields[columns.grade], query)};
}

}  // namespace tandem::data
