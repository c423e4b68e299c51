#include "data/tables/table_lines.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "data/lines/json_text.h"
#include "data/tables/table_reader.h"

namespace tandem::data {
namespace {

class TableLines final : public LineMaker {
 public:
  TableLines(const std::filesystem::path& path, Warnings& warnings) : table_(path, {}, warnings) {}

  bool Next(std::string* line, int64_t* number) override {
    if (!table_.Next(&row_)) return false;
    *number = row_.line;
    if (!row_.problem.empty()) {
      throw DataError(table_.file(), row_.line, "",
                      fmt::format("{}; `tandem import {} -o DATA` leaves such rows out and says "
                                  "which",
                                  row_.problem, table_.file()));
    }
    *line = "{";
    for (size_t i = 0; i < row_.fields.size(); ++i) {
      if (i > 0) *line += ", ";
      AppendJsonString(*line, table_.columns()[i]);
      *line += ": ";
      AppendJsonString(*line, row_.fields[i]);
    }
    *line += '}';
    return true;
  }

 private:
  TableReader table_;
  CsvRow row_;
};

}  // namespace

LineReader OpenTrainingLines(const std::filesystem::path& path, Warnings& warnings) {
  if (!IsTablePath(path)) return LineReader(path, warnings);
  return LineReader(NameOfInput(path), std::make_unique<TableLines>(path, warnings), warnings);
}

}  // namespace tandem::data
