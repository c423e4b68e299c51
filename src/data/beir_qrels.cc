// BEIR qrels: `query-id<TAB>corpus-id<TAB>score`, usually under a header line.
#include <fmt/format.h>

#include <array>

#include "data/fields.h"
#include "data/qrels_line.h"

namespace tandem::data {
namespace {

using Fields = std::array<std::string_view, 3>;

}  // namespace

bool LooksLikeBeirQrels(std::string_view line) {
  Fields fields;
  return SplitAtTabs(line, fields) == fields.size();
}

bool IsBeirQrelsHeader(std::string_view line) {
  Fields fields;
  return SplitAtTabs(line, fields) == fields.size() && fields[0] == "query-id" &&
         fields[1] == "corpus-id" && fields[2] == "score";
}

QrelsLine ParseBeirQrelsLine(const LineReader& reader, std::string_view line) {
  Fields fields;
  const size_t count = SplitAtTabs(line, fields);
  if (count != fields.size()) {
    throw reader.Error(
        fmt::format("has {} tab-separated fields; expected 3 (query-id corpus-id score)", count));
  }
  if (fields[0].empty() || fields[1].empty()) throw reader.Error("has an empty id");
  return {fields[0], fields[1], ParseGrade(reader, fields[2], fields[0])};
}

}  // namespace tandem::data
