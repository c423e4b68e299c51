#include "data/trec_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/fields.h"
#include "data/id_hash.h"

namespace tandem::data {
namespace {

struct RunLine {
  std::string_view query;
  std::string_view document;
  double score = 0;
};

RunLine ParseLine(LineReader& reader, std::string_view line) {
  BlankFields fields(line);
  const std::string_view query = fields.Next();
  fields.Next();  // iteration
  const std::string_view document = fields.Next();
  fields.Next();  // rank
  const std::string_view score_field = fields.Next();
  if (fields.Next().empty()) {
    throw reader.Error(fmt::format("has {} fields; expected 6 (query Q0 document rank score tag)",
                                   SplitAtBlanks(line, {})));
  }
  if (!fields.Next().empty()) {
    reader.warnings().Count(reader.file(), "lines with fields behind the tag, ignored",
                            reader.line_number(), query);
  }
  const std::optional<double> score = ParsePaddedNumber(score_field);
  if (!score) {
    throw reader.Error(fmt::format("score \"{}\" is not a finite number", score_field), query);
  }
  return {query, document, *score};
}

// Where the results of a query stood, from the result `first` on: one line each, from `line` on.
struct LineSpan {
  size_t first = 0;
  int64_t line = 0;
};

// The lines of a query's results, which mostly are one span.
class ResultLines {
 public:
  // For results 0, 1, 2, ... one after the other.
  void Add(size_t result, int64_t line) {
    if (spans_.empty() || LineIn(spans_.back(), result) != line) spans_.push_back({result, line});
  }

  int64_t LineOf(size_t result) const {
    const auto behind =
        std::upper_bound(spans_.begin(), spans_.end(), result,
                         [](size_t r, const LineSpan& span) { return r < span.first; });
    return LineIn(*std::prev(behind), result);
  }

 private:
  static int64_t LineIn(const LineSpan& span, size_t result) {
    return span.line + static_cast<int64_t>(result - span.first);
  }

  std::vector<LineSpan> spans_;
};

// Throws where a query has a document twice. `lines[q]` are those of query q.
void CheckDuplicates(const std::string& file, const Run& run,
                     const std::vector<ResultLines>& lines) {
  SlotTable seen;
  for (size_t q = 0; q < run.queries().size(); ++q) {
    const std::vector<ScoredDocument>& results = run.queries()[q].results;
    seen.Reset(results.size());
    for (size_t r = 0; r < results.size(); ++r) {
      const std::string_view document = results[r].document;
      const auto earlier =
          seen.FindOrInsert(IdHash(document), static_cast<uint32_t>(r),
                            [&](uint32_t index) { return results[index].document == document; });
      if (earlier) {
        throw DataError(file, lines[q].LineOf(r), run.queries()[q].query,
                        fmt::format("document {} was given in line {} already", document,
                                    lines[q].LineOf(*earlier)));
      }
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
  std::vector<ResultLines> lines;
  std::string_view line;
  while (reader.Next(&line)) {
    const RunLine read = ParseLine(reader, line);
    QueryResults& query = run.AddQuery(read.query);
    const auto index = static_cast<size_t>(&query - run.queries().data());
    if (index == lines.size()) {
      lines.emplace_back();
      // Queries mostly have as many results as the one before.
      if (index > 0) query.results.reserve(run.queries()[index - 1].results.size());
    }
    lines[index].Add(query.results.size(), reader.line_number());
    query.results.push_back({run.Keep(read.document), read.score});
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
