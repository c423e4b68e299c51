#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/hashes/text_hash.h"
#include "base/utf8.h"
#include "data/lines/line_rules.h"
#include "import/columns/column_choice.h"
#include "import/columns/document_texts.h"
#include "import/grades/labels.h"

namespace tandem::import_data {
namespace {

constexpr size_t kExampleBytes = 60;

// The values of a column so far.
struct Tally {
  ColumnSample sample;
  std::unordered_set<uint64_t> seen;

  void AddThumb(std::optional<double> grade) {
    if (grade) ++(*grade > 0 ? sample.ups : sample.downs);
  }

  void AddText(std::string_view text) {
    if (text.empty()) return;
    ++sample.rows;
    if (data::NumberOfText(text)) ++sample.numbers;
    if (NamesFile(text)) ++sample.files;
    if (LooksLikeId(text)) ++sample.ids;
    AddThumb(GradeOfThumb(text));
    sample.bytes += text.size();
    seen.insert(TextHash(text));
    if (sample.example.empty()) sample.example = RepairUtf8(text.substr(0, kExampleBytes));
  }

  void Add(const data::JsonField& cell) {
    using Kind = data::JsonField::Kind;
    switch (cell.kind) {
      case Kind::kString:
      case Kind::kInteger:
        return AddText(cell.text);
      case Kind::kBoolean:
        AddThumb(cell.number != 0 ? 1 : 0);
        [[fallthrough]];
      case Kind::kNumber:
        ++sample.rows;
        ++sample.numbers;
        return;
      case Kind::kStrings:
        if (cell.list.empty()) return;
        ++sample.rows;
        sample.bytes += cell.list.front().size();
        seen.insert(TextHash(cell.list.front()));
        if (NamesFile(cell.list.front())) ++sample.files;
        if (LooksLikeId(cell.list.front())) ++sample.ids;
        if (sample.example.empty()) {
          sample.example = RepairUtf8(cell.list.front().substr(0, kExampleBytes));
        }
        return;
      case Kind::kNull:
        return;
      case Kind::kNumbers:
      case Kind::kValues:
      case Kind::kNumberLists:
      case Kind::kObjects:
      case Kind::kOther:
        ++sample.rows;
        ++sample.others;
    }
  }
};

}  // namespace

SourceSample SampleSource(RowSource& source) {
  SourceSample sample;
  std::vector<Tally> tallies;
  std::unordered_map<std::string, size_t> places;
  const auto tally_of = [&](std::string_view name) -> Tally& {
    const auto [place, is_new] = places.try_emplace(std::string(name), tallies.size());
    if (is_new) tallies.emplace_back().sample.name = name;
    return tallies[place->second];
  };
  for (const std::string& name : source.columns()) tally_of(name);
  Row row;
  for (uint64_t read = 0; read < SourceSample::kRows && source.Next(&row); ++read) {
    if (!row.problem.empty()) {
      if (sample.first_problem.empty()) {
        sample.first_problem = fmt::format("{}: {}", row.line, row.problem);
      }
      continue;
    }
    if (sample.rows++ == 0) {
      sample.first_line = row.line;
      for (const data::JsonField& cell : row.cells) sample.first_row.emplace_back(cell.text);
    }
    for (const data::JsonField& cell : row.cells) tally_of(cell.key).Add(cell);
  }
  for (Tally& tally : tallies) {
    tally.sample.distinct = tally.seen.size();
    sample.columns.push_back(std::move(tally.sample));
  }
  return sample;
}

}  // namespace tandem::import_data
