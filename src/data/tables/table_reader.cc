#include "data/tables/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/files/file_kind.h"
#include "data/input/line_reader.h"
#include "data/tables/csv_dialect.h"

namespace tandem::data {
namespace {

// The name without ".gz".
std::string PlainName(const std::filesystem::path& path) {
  return (path.extension() == ".gz" ? path.stem() : path.filename()).native();
}

bool HasTabs(const std::filesystem::path& path) {
  const std::string name = PlainName(path);
  return name.ends_with(".tsv") || name.ends_with(".tab");
}

// Gives bytes that were read before, then those of the source.
class RestSource final : public ByteSource {
 public:
  RestSource(std::string start, std::unique_ptr<ByteSource> source)
      : start_(std::move(start)), source_(std::move(source)) {}
  size_t Read(char* out, size_t size) override {
    if (given_ == start_.size()) return source_->Read(out, size);
    const size_t count = std::min(size, start_.size() - given_);
    std::memcpy(out, start_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  std::string start_;
  size_t given_ = 0;
  std::unique_ptr<ByteSource> source_;
};

bool IsBlankField(std::string_view text) { return text.find_first_not_of(" \t") == text.npos; }

}  // namespace

TableReader::TableReader(const std::filesystem::path& path, const TableOptions& options,
                         Warnings& warnings)
    : file_(NameOfInput(path)), warnings_(warnings), has_names_(options.header_line > 0) {
  std::unique_ptr<ByteSource> source = OpenBytes(path, file_);
  std::string start(kDialectBytes, '\0');
  size_t size = 0;
  while (size < start.size()) {
    const size_t got = source->Read(start.data() + size, start.size() - size);
    if (got == 0) break;
    size += got;
  }
  const bool is_whole = size < start.size();
  start.resize(size);
  const std::string problem =
      NoDataProblem(std::string_view(start).substr(0, kFileKindBytes), file_);
  if (!problem.empty()) throw DataError(file_, 0, "", problem);
  if (start.starts_with(kByteOrderMark)) {
    start.erase(0, kByteOrderMark.size());
    warnings.Count(file_, "byte order marks, ignored", 1);
  }
  const std::string delimiters = options.delimiter ? std::string(1, *options.delimiter)
                                 : HasTabs(path)   ? "\t"
                                                   : ",;\t|";
  const FoundDialect found = FindDialect({.start = start,
                                          .is_whole = is_whole,
                                          .header_line = options.header_line,
                                          .delimiters = delimiters,
                                          .quotes = options.quotes});
  dialect_ = found.dialect;
  if (options.delimiter) dialect_.delimiter = *options.delimiter;
  if (found.skipped_bytes > 0) {
    warnings.Count(file_, "lines that name the separator (sep=), passed over", 1);
  }
  start.erase(0, found.skipped_bytes);
  rows_ =
      std::make_unique<CsvRows>(std::make_unique<RestSource>(std::move(start), std::move(source)),
                                file_, dialect_, found.skipped_bytes > 0 ? 2 : 1);
  ReadNames(options);
}

void TableReader::ReadNames(const TableOptions& options) {
  CsvRow row;
  do {
    if (!rows_->Next(&row)) {
      throw DataError(file_, 0, "",
                      options.header_line > 1
                          ? fmt::format("has no row on line {}, where the names of the columns "
                                        "should be (--header-line)",
                                        options.header_line)
                          : std::string("holds no row"));
    }
  } while (row.line < options.header_line);
  if (!has_names_) {
    for (size_t i = 0; i < row.fields.size(); ++i) columns_.push_back(std::to_string(i + 1));
    has_first_ = true;
    first_ = std::move(row);
    return;
  }
  if (!row.problem.empty()) {
    throw DataError(file_, row.line, "", "the line of column names " + row.problem);
  }
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < row.fields.size(); ++i) {
    const std::string_view name = row.fields[i];
    if (name.empty()) {
      columns_.push_back(fmt::format("#{}", i + 1));
      continue;
    }
    const auto [place, is_new] = places.try_emplace(name, i);
    if (!is_new) {
      throw DataError(file_, row.line, "",
                      fmt::format("the columns {} and {} are both called \"{}\"; rename one of "
                                  "them",
                                  place->second + 1, i + 1, name));
    }
    columns_.emplace_back(name);
  }
}

bool TableReader::RepeatsNames(const CsvRow& row) const {
  return has_names_ && columns_.size() > 1 &&
         std::equal(columns_.begin(), columns_.end(), row.fields.begin(), row.fields.end());
}

bool TableReader::Next(CsvRow* row) {
  if (has_first_) {
    has_first_ = false;
    *row = std::move(first_);
  } else {
    bool is_blank = true;
    do {
      if (!rows_->Next(row)) {
        if (rows_->blank_lines() > 0) {
          warnings_.Count(file_, "blank lines, skipped", 0, "", rows_->blank_lines());
        }
        return false;
      }
      is_blank = columns_.size() > 1 && row->fields.size() == 1 && row->problem.empty() &&
                 IsBlankField(row->fields[0]);
      if (is_blank) warnings_.Count(file_, "blank lines, skipped", row->line);
    } while (is_blank);
  }
  if (!row->problem.empty()) return true;
  if (row->fields.size() != columns_.size()) {
    row->problem_kind = "rows with another number of fields than there are columns";
    row->problem = fmt::format(
        "has {} field{} where there are {} columns ({}s tell them apart; a "
        "field that holds one is written in quotes)",
        row->fields.size(), row->fields.size() == 1 ? "" : "s", columns_.size(),
        DelimiterName(dialect_.delimiter));
  } else if (RepeatsNames(*row)) {
    row->problem_kind = "rows that repeat the names of the columns";
    row->problem = "repeats the names of the columns";
  }
  return true;
}

std::string DelimiterName(char delimiter) {
  switch (delimiter) {
    case ',':
      return "comma";
    case ';':
      return "semicolon";
    case '\t':
      return "tab";
    case '|':
      return "bar";
    default:
      return fmt::format("\"{}\"", delimiter);
  }
}

bool IsTablePath(const std::filesystem::path& path) {
  return PlainName(path).ends_with(".csv") || HasTabs(path);
}

}  // namespace tandem::data
