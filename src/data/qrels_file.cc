#include "data/qrels_file.h"

#include <fmt/format.h>

#include <vector>

#include "data/fields.h"
#include "data/qrels_line.h"

namespace tandem::data {

double ParseGrade(const LineReader& reader, std::string_view field, std::string_view query) {
  const std::optional<double> grade = ParseNumber(field);
  if (!grade) {
    throw reader.Error(fmt::format("grade \"{}\" is not a finite number", field), query);
  }
  return *grade;
}

namespace {

void AddJudgement(LineReader& reader, const QrelsLine& read, Qrels& qrels,
                  std::vector<int64_t>& lines) {
  const Qrels::Added added =
      qrels.Add(read.query, read.document, read.grade, static_cast<uint32_t>(reader.line_number()));
  if (added.is_new) {
    lines.push_back(reader.line_number());
  } else if (added.grade == read.grade) {
    reader.warnings().Count(reader.file(), "judgements given twice, taken once",
                            reader.line_number(), read.query);
  } else {
    throw reader.Error(
        fmt::format("document {} has grade {} here and {} in line {}; one query and document can "
                    "have one grade only",
                    read.document, read.grade, added.grade, lines[added.order]),
        read.query);
  }
}

}  // namespace

Qrels ReadQrels(LineReader& reader) {
  Qrels qrels;
  std::vector<int64_t> lines;  // of each judgement
  std::string_view line;
  bool beir = false;
  for (bool first = true; reader.Next(&line); first = false) {
    if (first) {
      beir = LooksLikeBeirQrels(line);
      if (IsBeirQrelsHeader(line)) continue;
    }
    AddJudgement(reader, beir ? ParseBeirQrelsLine(reader, line) : ParseTrecQrelsLine(reader, line),
                 qrels, lines);
  }
  if (qrels.judgement_count() == 0) throw DataError(reader.file(), 0, "", "holds no judgement");
  return qrels;
}

Qrels ReadQrels(const std::filesystem::path& path, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadQrels(reader);
}

}  // namespace tandem::data
