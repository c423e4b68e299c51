// Rows of CSV and TSV files.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "data/tables/table_reader.h"
#include "import/sources/open_source.h"

namespace tandem::import_data {
namespace {

class TableSource final : public RowSource {
 public:
  TableSource(const std::filesystem::path& path, const SourceOptions& options,
              data::Warnings& warnings)
      : table_(path,
               {.delimiter = options.delimiter,
                .quotes = options.quotes,
                .header_line = options.header_line},
               warnings),
        has_quotes_(options.quotes) {}

  bool Next(Row* row) override {
    if (!table_.Next(&read_)) return false;
    row->file = table_.file();
    row->line = read_.line;
    row->raw = read_.raw;
    row->problem = read_.problem;
    row->problem_kind = read_.problem_kind;
    row->cells = {};
    if (!row->problem.empty()) return true;
    cells_.resize(read_.fields.size());
    for (size_t i = 0; i < cells_.size(); ++i) {
      cells_[i].key = table_.columns()[i];
      cells_[i].kind = data::JsonField::Kind::kString;
      cells_[i].text = read_.fields[i];
    }
    row->cells = cells_;
    return true;
  }

  std::string Description() const override {
    const char delimiter = table_.dialect().delimiter;
    const std::string by = fmt::format("separated by {}s", data::DelimiterName(delimiter));
    return fmt::format("{}{}", delimiter == '\t' ? "a table " : "CSV, ",
                       has_quotes_ ? by : by + ", quotes as plain characters");
  }

  std::span<const std::string> columns() const override { return table_.columns(); }

 private:
  data::TableReader table_;
  bool has_quotes_;
  data::CsvRow read_;
  std::vector<data::JsonField> cells_;
};

}  // namespace

std::unique_ptr<RowSource> MakeTableSource(const std::filesystem::path& path,
                                           const SourceOptions& options, data::Warnings& warnings) {
  return std::make_unique<TableSource>(path, options, warnings);
}

}  // namespace tandem::import_data
