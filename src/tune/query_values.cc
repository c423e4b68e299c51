#include "tune/query_values.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json.h"
#include "base/json/json_reader.h"

namespace tandem::tune {

void WriteQueryValues(const std::filesystem::path& file, const QueryValues& values) {
  MakeFolder(file.parent_path());
  std::string text;
  for (const train::QueryValue& value : values) {
    text += Json{{"query", value.query}, {"value", value.value}}.Dump() + "\n";
  }
  WriteFileAtomically(file, text);
}

QueryValues ReadQueryValues(const std::filesystem::path& file) {
  const std::string text = ReadFile(file);
  QueryValues values;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::optional<Json> row = ParseIfJson(std::string_view(text).substr(begin, end - begin));
    const Json* const query = row ? row->Find("query") : nullptr;
    const Json* const value = row ? row->Find("value") : nullptr;
    if (query == nullptr || value == nullptr || !query->is_string() || !value->is_number()) {
      throw DataError(file.native(), static_cast<int64_t>(values.size() + 1), "",
                      "is no line {\"query\": ID, \"value\": NUMBER}; the file was changed");
    }
    values.push_back({query->text(), value->get<double>()});
    begin = end + 1;
  }
  return values;
}

double MeanOf(const QueryValues& values) {
  double sum = 0;
  for (const train::QueryValue& value : values) sum += value.value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace tandem::tune
