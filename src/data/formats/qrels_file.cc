#include "data/formats/qrels_file.h"

#include <fmt/format.h>

#include <vector>

#include "data/formats/qrels_line.h"
#include "data/input/fields.h"

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

bool QrelsStream::Next(QrelsLine* found) {
  std::string_view line;
  while (reader_.Next(&line)) {
    if (!begun_) {
      begun_ = true;
      columns_ = FindQrelsColumns(reader_, line);
      if (columns_.has_header) continue;
    }
    *found = columns_.is_trec ? ParseTrecQrelsLine(reader_, line)
                              : ParseQrelsColumns(reader_, columns_, line);
    any_ = true;
    return true;
  }
  if (!any_) throw DataError(reader_.file(), 0, "", "holds no judgement");
  return false;
}

Qrels ReadQrels(LineReader& reader) {
  Qrels qrels;
  std::vector<int64_t> lines;  // of each judgement
  QrelsStream stream(reader);
  QrelsLine line;
  while (stream.Next(&line)) AddJudgement(reader, line, qrels, lines);
  return qrels;
}

Qrels ReadQrels(const std::filesystem::path& path, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadQrels(reader);
}

}  // namespace tandem::data
