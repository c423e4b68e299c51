#include "data/tables/csv_rows.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/json/json_problem.h"
#include "base/utf8.h"

namespace tandem::data {
namespace {

constexpr size_t kRowBufferBytes = size_t{1} << 18;
constexpr size_t kFieldBlockBytes = size_t{1} << 16;  // by which libcsv's memory for a field grows
// Bytes that no UTF-8 has. In a table without quotes the former is the quote that libcsv is told,
// so that it meets none; pieces are given to it with the latter in its place.
constexpr char kNoQuote = '\xFF';
constexpr char kNoCharacter = '\xFE';

int IsNeverSpace(unsigned char) { return 0; }

}  // namespace

// libcsv with the fields of the row that it reads. Strict: it stops before a byte that RFC 4180
// does not allow.
struct CsvRows::Parser {
  explicit Parser(const CsvDialect& the_dialect) : dialect(the_dialect) { Begin(); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { ::csv_free(&csv); }

  void Begin() {
    ::csv_init(&csv, kStrict);
    ::csv_set_delim(&csv, static_cast<unsigned char>(dialect.delimiter));
    if (!dialect.quotes) ::csv_set_quote(&csv, static_cast<unsigned char>(kNoQuote));
    ::csv_set_space_func(&csv, IsNeverSpace);  // blanks are part of a field
    ::csv_set_blk_size(&csv, kFieldBlockBytes);
  }
  void BeginAgain() {
    ::csv_free(&csv);
    Begin();
  }

  // Returns how many bytes were read; fewer than there are: the next one is not allowed.
  size_t Parse(std::string_view bytes) {
    const size_t read = ::csv_parse(&csv, bytes.data(), bytes.size(), TakeField, TakeRow, this);
    if (read < bytes.size() && ::csv_error(&csv) != CSV_EPARSE) throw std::bad_alloc();
    return read;
  }
  // Reads one byte that strict parsing has refused.
  void ParseLeniently(std::string_view byte) {
    ::csv_set_opts(&csv, 0);
    Parse(byte);
    ::csv_set_opts(&csv, kStrict);
  }
  // Ends the last row, which may have no line end. False where a quote is open.
  bool Finish() { return ::csv_fini(&csv, TakeField, TakeRow, this) == 0; }

  static void TakeField(void* bytes, size_t size, void* self) noexcept {
    auto* const parser = static_cast<Parser*>(self);
    if (size > 0) parser->text.append(static_cast<const char*>(bytes), size);
    parser->ends.push_back(parser->text.size());
  }
  static void TakeRow(int, void* self) noexcept { static_cast<Parser*>(self)->has_row = true; }

  static constexpr unsigned char kStrict = CSV_STRICT | CSV_STRICT_FINI;

  CsvDialect dialect;
  csv_parser csv{};
  std::string text;          // of all fields of the row
  std::vector<size_t> ends;  // [fields], in `text`
  bool has_row = false;      // a row has ended
};

CsvRows::CsvRows(std::unique_ptr<ByteSource> source, std::string file, const CsvDialect& dialect,
                 int64_t first_line)
    : source_(std::move(source)),
      file_(std::move(file)),
      dialect_(dialect),
      parser_(std::make_unique<Parser>(dialect)),
      buffer_(kRowBufferBytes),
      line_(first_line) {}

CsvRows::~CsvRows() = default;

bool CsvRows::Refill() {
  if (at_end_) return false;
  std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<ptrdiff_t>(end_), buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  const size_t got = source_->Read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  at_end_ = got == 0;
  return !at_end_;
}

// The bytes up to the end of a line and with it, or all that are in the buffer; empty at the end of
// the file.
std::string_view CsvRows::NextPiece(bool* ends_line) {
  if (begin_ == end_ && !Refill()) return {};
  std::string_view pending(buffer_.data() + begin_, end_ - begin_);
  size_t end = pending.find_first_of("\r\n");
  if (end != pending.npos && pending[end] == '\r' && end + 1 == pending.size()) {
    // The LF that belongs to it may not be read yet.
    if (end > 0) {
      pending = pending.substr(0, end);
      end = pending.npos;
    } else if (Refill()) {
      return NextPiece(ends_line);
    }
  }
  *ends_line = end != pending.npos;
  if (*ends_line) {
    const bool is_pair =
        pending[end] == '\r' && end + 1 < pending.size() && pending[end + 1] == '\n';
    pending = pending.substr(0, end + (is_pair ? 2 : 1));
  }
  begin_ += pending.size();
  return pending;
}

void CsvRows::AddProblem(std::string_view kind, std::string problem) {
  if (!problem_.empty()) return;
  problem_kind_ = kind;
  problem_ = std::move(problem);
}

// A quote within a field that does not begin with one is a character to Python and to pandas. After
// the quote that closes a field they go on to the end of the field as if it had none; the row ends
// where they end it, but its fields are nothing that anybody has meant.
void CsvRows::Feed(std::string_view piece) {
  if (!dialect_.quotes && piece.find(kNoQuote) != piece.npos) {
    replaced_ = piece;
    std::replace(replaced_.begin(), replaced_.end(), kNoQuote, kNoCharacter);
    piece = replaced_;
  }
  while (!piece.empty()) {
    piece.remove_prefix(parser_->Parse(piece));
    if (piece.empty()) return;
    if (parser_->csv.quoted == 0) {
      parser_->ParseLeniently(piece.substr(0, 1));
      piece.remove_prefix(1);
      continue;
    }
    AddProblem("rows with something after a closing quote",
               fmt::format("something stands on line {} after the quote that closes a field; a "
                           "quote within quotes is written twice, and a delimiter or the line's "
                           "end comes after the closing one (or read quotes as plain characters: "
                           "tandem import --no-quotes)",
                           line_));
    parser_->BeginAgain();
    parser_->Parse("x");  // in a field without quotes, as Python is
  }
}

void CsvRows::EndLine() {
  // Within a row, a line ends only inside of quotes.
  const size_t field = parser_->ends.size();
  if (open_line_ == 0 || field != open_field_) open_line_ = line_;
  open_field_ = field;
}

void CsvRows::ThrowOpenQuote() const {
  throw DataError(
      file_, open_line_, "",
      fmt::format(
          "a quote that begins on this line never closes, so that nothing after it is a row "
          "of its own (the row begins on line {}); close it, write quotes inside of a field "
          "twice, or read quotes as plain characters (tandem import --no-quotes)",
          row_line_));
}

bool CsvRows::Next(CsvRow* row) {
  raw_.clear();
  problem_.clear();
  problem_kind_ = {};
  parser_->text.clear();
  parser_->ends.clear();
  parser_->has_row = false;
  open_line_ = 0;
  bool ends_line = false;
  while (true) {
    const std::string_view piece = NextPiece(&ends_line);
    if (piece.empty()) return Finish(row);
    if (raw_.empty()) row_line_ = line_;
    raw_ += piece;
    if (raw_.size() > kMaxRowBytes) {
      if (open_line_ == 0) open_line_ = row_line_;
      throw DataError(file_, row_line_, "",
                      fmt::format("the row is longer than {} MiB: a quote that begins on line {} "
                                  "does not close",
                                  kMaxRowBytes >> 20, open_line_));
    }
    Feed(piece);
    if (ends_line) {
      const bool is_blank = !parser_->has_row && raw_.find_first_not_of("\r\n") == raw_.npos;
      if (is_blank) {
        ++blank_lines_;
        raw_.clear();
      } else if (!parser_->has_row) {
        EndLine();
      }
      ++line_;
    }
    if (!parser_->has_row) continue;
    Give(row);
    return true;
  }
}

bool CsvRows::Finish(CsvRow* row) {
  if (finished_) return false;
  finished_ = true;
  if (!parser_->Finish()) {
    if (open_line_ == 0 || parser_->ends.size() != open_field_) open_line_ = line_;
    ThrowOpenQuote();
  }
  if (!parser_->has_row) return false;
  Give(row);
  return true;
}

void CsvRows::Give(CsvRow* row) {
  std::string_view raw = raw_;
  if (raw.ends_with('\n')) raw.remove_suffix(1);
  if (raw.ends_with('\r')) raw.remove_suffix(1);
  fields_.clear();
  size_t begin = 0;
  for (const size_t end : parser_->ends) {
    fields_.push_back(std::string_view(parser_->text).substr(begin, end - begin));
    begin = end;
  }
  if (raw.find('\0') != raw.npos) {
    AddProblem("rows with a NUL byte", "holds a NUL byte, which no text has");
  }
  if (!IsUtf8(raw)) AddProblem("rows that are not UTF-8", Utf8Problem(raw));
  if (fields_.size() > kMaxFields) {
    AddProblem("rows with too many fields",
               fmt::format("has {} fields; at most {} are read", fields_.size(), kMaxFields));
  }
  row->fields = fields_;
  row->line = row_line_;
  row->raw = raw;
  row->problem = problem_;
  row->problem_kind = problem_kind_;
}

}  // namespace tandem::data
