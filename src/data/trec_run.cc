#include "data/trec_run.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/text_hash.h"
#include "data/fields.h"

namespace tandem::data {
namespace {

constexpr size_t kFields = 6;

struct RunLine {
  std::string_view query;
  std::string_view document;
  double score = 0;
};

RunLine ParseLine(LineReader& reader, std::string_view line) {
  std::array<std::string_view, kFields> fields;
  const size_t count = SplitAtBlanks(line, fields);
  if (count < kFields) {
    throw reader.Error(
        fmt::format("has {} fields; expected 6 (query Q0 document rank score tag)", count));
  }
  if (count > kFields) {
    reader.warnings().Count(reader.file(), "lines with fields behind the tag, ignored",
                            reader.line_number(), fields[0]);
  }
  const std::optional<double> score = ParseNumber(fields[4]);
  if (!score) {
    throw reader.Error(fmt::format("score \"{}\" is not a finite number", fields[4]), fields[0]);
  }
  return {fields[0], fields[2], *score};
}

// Throws where a query has a document twice. `lines[q][r]` is where result r of query q stood.
void CheckDuplicates(const std::string& file, const Run& run,
                     const std::vector<std::vector<int64_t>>& lines) {
  for (size_t q = 0; q < run.queries().size(); ++q) {
    const std::vector<ScoredDocument>& results = run.queries()[q].results;
    SlotTable seen;
    for (size_t r = 0; r < results.size(); ++r) {
      const std::string_view document = results[r].document;
      const uint64_t hash = TextHash(document);
      const auto earlier =
          seen.Find(hash, [&](uint32_t index) { return results[index].document == document; });
      if (earlier) {
        throw DataError(
            file, lines[q][r], run.queries()[q].query,
            fmt::format("document {} was given in line {} already", document, lines[q][*earlier]));
      }
      seen.Insert(hash, static_cast<uint32_t>(r));
    }
  }
}

bool CanBeField(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t\r\n\v\f") == std::string_view::npos;
}

}  // namespace

void CheckTrecId(const std::filesystem::path& file, std::string_view id) {
  if (!CanBeField(id)) {
    throw DataError(file.native(), 0, id,
                    "a TREC run separates its fields by blanks: an id must not be empty or have "
                    "blanks");
  }
}

Run ReadTrecRun(LineReader& reader) {
  Run run;
  std::vector<std::vector<int64_t>> lines;
  std::string_view line;
  while (reader.Next(&line)) {
    const RunLine read = ParseLine(reader, line);
    QueryResults& results = run.AddQuery(read.query);
    const auto query = static_cast<size_t>(&results - run.queries().data());
    if (query == lines.size()) lines.emplace_back();
    lines[query].push_back(reader.line_number());
    results.results.push_back({run.Keep(read.document), read.score});
  }
  if (run.queries().empty()) throw DataError(reader.file(), 0, "", "holds no results");
  CheckDuplicates(reader.file(), run, lines);
  return run;
}

Run ReadTrecRun(const std::filesystem::path& path, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadTrecRun(reader);
}

void WriteTrecRun(const std::filesystem::path& path, const Run& run, std::string_view tag) {
  AtomicFile file(path);
  WriteTrecRun([&file](std::string_view text) { file.Write(text); }, path, run, tag);
  file.Commit();
}

void WriteTrecRun(const std::function<void(std::string_view)>& write,
                  const std::filesystem::path& file, const Run& run, std::string_view tag) {
  if (!CanBeField(tag)) {
    throw UsageError(fmt::format("run tag \"{}\" is empty or holds blanks", tag));
  }
  std::string text;
  for (const QueryResults& query : run.queries()) {
    CheckTrecId(file, query.query);
    text.clear();
    size_t rank = 0;
    for (const ScoredDocument& result : query.results) {
      CheckTrecId(file, result.document);
      // A float's shortest digits are fewer, and read as a double they round back to that float.
      const auto single = static_cast<float>(result.score);
      const std::string score = static_cast<double>(single) == result.score
                                    ? fmt::format("{}", single)
                                    : fmt::format("{}", result.score);
      fmt::format_to(std::back_inserter(text), "{} Q0 {} {} {} {}\n", query.query, result.document,
                     ++rank, score, tag);
    }
    write(text);
  }
}

}  // namespace tandem::data
