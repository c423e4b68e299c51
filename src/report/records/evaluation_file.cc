#include "report/records/evaluation_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_problem.h"
#include "base/json/json_reader.h"
#include "report/records/record_json.h"

namespace tandem::report {
namespace {

constexpr const char* kFormat = "tandem evaluation";
constexpr int64_t kVersion = 1;

[[noreturn]] void FailAsNoEvaluation(std::string_view file) {
  throw DataError(file, 0, "",
                  fmt::format("is no evaluation: expected JSON, an object with \"format\": \"{}\", "
                              "as tandem report writes it to RUN/report/after.evaluation.json; it "
                              "also takes run folders and model folders",
                              kFormat));
}

Json ParseFile(std::string_view text, std::string_view file) {
  // Another kind of file, such as a TREC run, is not one that broke.
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') FailAsNoEvaluation(file);
  try {
    return ParseJson(text);
  } catch (const JsonTextError&) {
    const std::string fault = JsonFaultText(text);
    throw DataError(file, 0, "",
                    fault.empty() ? "has a number that no double holds; write it again"
                                  : fmt::format("is no whole JSON: {}; write it again", fault));
  }
}

void CheckFormat(const Json& json, std::string_view file) {
  if (!json.is_object() || json.value("format", Json()) != kFormat) {
    FailAsNoEvaluation(file);
  }
  const Json version = json.value("version", Json());
  if (version != kVersion) {
    throw DataError(
        file, 0, "",
        fmt::format("has version {}; this program reads version {}", version.Dump(), kVersion));
  }
}

// Checks that the members agree with each other.
class Checks {
 public:
  explicit Checks(std::string_view file) : file_(file) {}

  void Measures(const EvaluationRecord& record) const {
    for (const MeasureResult& measure : record.measures) {
      if (measure.per_query.empty() || measure.per_query.size() == record.query_ids.size()) {
        continue;
      }
      Fail(fmt::format("{} has {} values per query and the file {} query_ids", measure.name,
                       measure.per_query.size(), record.query_ids.size()));
    }
  }

  void Bins(const Histogram& histogram, std::string_view name) const {
    if (histogram.from < histogram.to && !histogram.counts.empty()) return;
    Fail(fmt::format("{} has {} bins from {} to {}; expected at least one, of a width above 0",
                     name, histogram.counts.size(), histogram.from, histogram.to));
  }

 private:
  [[noreturn]] void Fail(const std::string& message) const {
    throw DataError(file_, 0, "", message);
  }
  std::string_view file_;
};

void CheckRecord(const EvaluationRecord& record, std::string_view file) {
  const Checks checks(file);
  checks.Measures(record);
  if (record.scores) {
    checks.Bins(record.scores->positives, "scores.positives");
    checks.Bins(record.scores->hard_negatives, "scores.hard_negatives");
  }
  if (!record.views) return;
  if (record.views->nearest_cosine) checks.Bins(*record.views->nearest_cosine, "nearest_cosine");
  if (record.views->ratio) checks.Bins(*record.views->ratio, "ratio");
}

}  // namespace

std::string EvaluationText(const EvaluationRecord& record) {
  Json json = {{"format", kFormat}, {"version", kVersion}};
  json.Update(RecordWriter::ObjectOf(record));
  return json.Dump(-1, JsonBytes::kReplace) + "\n";
}

EvaluationRecord ParseEvaluation(std::string_view text, std::string_view file) {
  const Json json = ParseFile(text, file);
  CheckFormat(json, file);
  EvaluationRecord record;
  RecordReader reader(json, "", file);
  reader.Ignore("format");
  reader.Ignore("version");
  VisitFields(record, reader);
  reader.CheckAllKnown();
  CheckRecord(record, file);
  return record;
}

EvaluationRecord ReadEvaluation(const std::filesystem::path& path) {
  return ParseEvaluation(ReadFile(path), path.native());
}

}  // namespace tandem::report
