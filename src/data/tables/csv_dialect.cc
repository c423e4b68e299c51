#include "data/tables/csv_dialect.h"

#include "base/error.h"

namespace tandem::data {
namespace {

constexpr int kLookedAt = 100;

// How many of the first rows have as many fields as the first one, in thousandths; 0 where that has
// one field only.
int Agreement(const DialectQuestion& question, const CsvDialect& dialect) {
  CsvRows rows(BytesInMemory(question.start), "", dialect);
  CsvRow row;
  int agreeing = 0, read = 0;
  size_t fields = 0;
  try {
    while (read < kLookedAt && rows.Next(&row)) {
      if (row.line < question.header_line) continue;
      if (read == 0) fields = row.fields.size();
      agreeing += row.fields.size() == fields ? 1 : 0;
      ++read;
    }
  } catch (const DataError&) {
    // The start ends inside of quotes.
  }
  if (fields < 2) return 0;
  if (!question.is_whole && read > 1 && read < kLookedAt) {
    --read;  // the last row is cut
    agreeing = agreeing > read ? read : agreeing;
  }
  return agreeing * 1000 / read;
}

}  // namespace

FoundDialect FindDialect(const DialectQuestion& question) {
  const std::string_view start = question.start;
  FoundDialect found{
      .dialect = {.delimiter = question.delimiters.front(), .quotes = question.quotes}};
  constexpr std::string_view kSeparator = "sep=";
  if (start.starts_with(kSeparator) && start.size() > kSeparator.size() + 1) {
    const size_t end = start.find_first_of("\r\n");
    if (end == kSeparator.size() + 1) {
      found.dialect.delimiter = start[kSeparator.size()];
      found.skipped_bytes = end + (start.substr(end).starts_with("\r\n") ? 2 : 1);
      return found;
    }
  }
  int best = 0;
  for (const char delimiter : question.delimiters) {
    const CsvDialect dialect{.delimiter = delimiter, .quotes = question.quotes};
    const int agreement = Agreement(question, dialect);
    if (agreement <= best) continue;
    best = agreement;
    found.dialect = dialect;
  }
  return found;
}

}  // namespace tandem::data
