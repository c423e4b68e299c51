// TREC qrels: `query iteration document grade`, separated by blanks.
#include <fmt/format.h>

#include <array>

#include "data/fields.h"
#include "data/qrels_line.h"

namespace tandem::data {

QrelsLine ParseTrecQrelsLine(const LineReader& reader, std::string_view line) {
  std::array<std::string_view, 4> fields;
  const size_t count = SplitAtBlanks(line, fields);
  if (count != fields.size()) {
    throw reader.Error(
        fmt::format("has {} fields; expected 4 (query iteration document grade) or, in a BEIR "
                    "file, 3 separated by tabs",
                    count));
  }
  return {fields[0], fields[2], ParseGrade(reader, fields[3], fields[0])};
}

}  // namespace tandem::data
