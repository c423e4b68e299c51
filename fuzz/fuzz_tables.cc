// Rows of tables (data/tables/csv_rows.h): whatever the bytes, the pieces in which they come decide
// nothing.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "data/tables/csv_dialect.h"
#include "data/tables/csv_rows.h"

namespace {

using tandem::data::ByteSource;

// Gives `bytes` in pieces of a few.
class Pieces final : public ByteSource {
 public:
  explicit Pieces(std::string_view bytes) : bytes_(bytes) {}
  size_t Read(char* out, size_t size) override {
    const size_t count = std::min({size, bytes_.size(), size_t{1} + bytes_.size() % 5});
    bytes_.copy(out, count);
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
};

std::string RowsOf(std::unique_ptr<ByteSource> source, const tandem::data::CsvDialect& dialect) {
  std::string all;
  try {
    tandem::data::CsvRows rows(std::move(source), "f", dialect);
    tandem::data::CsvRow row;
    while (rows.Next(&row)) {
      all += std::to_string(row.line) + "\n" + row.problem + "\n";
      for (const std::string_view field : row.fields) all.append(field).append("\n");
    }
  } catch (const tandem::Error& error) {
    all += error.what();
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const bool quotes : {true, false}) {
    tandem::data::FoundDialect found =
        tandem::data::FindDialect({.start = text, .is_whole = true, .quotes = quotes});
    const std::string whole = RowsOf(tandem::data::BytesInMemory(text), found.dialect);
    if (RowsOf(std::make_unique<Pieces>(text), found.dialect) != whole) std::abort();
  }
  return 0;
}
