#include "import/corpus/document_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"

namespace tandem::import_data {
namespace {

using Kind = data::JsonField::Kind;

uint64_t KnownIn(const data::JsonField& cell, const CorpusDocuments& corpus) {
  if (cell.kind == Kind::kString || cell.kind == Kind::kInteger) {
    return corpus.Find(cell.text) ? 1 : 0;
  }
  if (cell.kind != Kind::kStrings) return 0;
  return static_cast<uint64_t>(
      std::count_if(cell.list.begin(), cell.list.end(),
                    [&](std::string_view id) { return corpus.Find(id).has_value(); }));
}

}  // namespace

Columns WithDocumentColumn(RowSource& rows, Columns chosen, const CorpusDocuments& corpus,
                           std::string_view file) {
  chosen.title = kNoColumn;
  chosen.id = kNoColumn;
  if (!chosen.document.empty()) return chosen;
  std::map<std::string, uint64_t> known;  // values that the corpus has, of each column
  Row row;
  for (uint64_t read = 0; read < SourceSample::kRows && rows.Next(&row); ++read) {
    if (!row.problem.empty()) continue;
    for (const data::JsonField& cell : row.cells) {
      if (const uint64_t count = KnownIn(cell, corpus)) known[std::string(cell.key)] += count;
    }
  }
  // A negative names documents too.
  std::erase_if(known, [&](const auto& one) {
    return one.first == chosen.query || RoleOfName(one.first) == "negative" ||
           std::find(chosen.negatives.begin(), chosen.negatives.end(), one.first) !=
               chosen.negatives.end();
  });
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(known.begin(), known.end(), fewer);
  if (most == known.end()) return chosen;
  for (const auto& [name, count] : known) {
    if (name == most->first || count < most->second) continue;
    throw UsageError(fmt::format(
        "{}: the columns \"{}\" and \"{}\" both name documents of {}; say which: --document \"{}\"",
        file, most->first, name, corpus.file().native(), name));
  }
  chosen.document = most->first;
  return chosen;
}

}  // namespace tandem::import_data
