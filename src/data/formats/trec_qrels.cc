// TREC qrels: `query iteration document grade`, separated by blanks.
#include <fmt/format.h>

#include "data/formats/qrels_line.h"
#include "data/input/fields.h"

namespace tandem::data {

QrelsLine ParseTrecQrelsLine(const LineReader& reader, std::string_view line) {
  BlankFields fields(line);
  const std::string_view query = fields.Next();
  fields.Next();  // iteration
  const std::string_view document = fields.Next();
  const std::string_view grade = fields.Next();
  if (grade.empty() || !fields.Next().empty()) {
    throw reader.Error(
        fmt::format("has {} fields; expected 4 (query iteration document grade) or, in a BEIR "
                    "file, 3 separated by tabs (`tandem import` reads tables of texts)",
                    SplitAtBlanks(line, {})));
  }
  return {query, document, ParseGrade(reader, grade, query)};
}

}  // namespace tandem::data
