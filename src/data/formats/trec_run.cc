#include "data/formats/trec_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files/files.h"
#include "base/process/threads.h"
#include "data/input/fields.h"
#include "data/input/text_blocks.h"
#include "data/texts/id_hash.h"

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
    reader.warnings().Count(reader.file(), "lines with fields after the tag, ignored",
                            reader.line_number(), query);
  }
  const std::optional<double> score = ParsePaddedNumber(score_field);
  if (!score) {
    throw reader.Error(fmt::format("score \"{}\" is not a finite number", score_field), query);
  }
  return {query, document, *score};
}

// The lines of a query's results from the result `first` on: one line each, from `line` on.
struct LineSpan {
  size_t first = 0;
  int64_t line = 0;
};

// The lines of a query's results, which mostly are one span.
class ResultLines {
 public:
  // Must be called for results 0, 1, 2, ... one after the other.
  void Add(size_t result, int64_t line) {
    if (spans_.empty() || LineIn(spans_.back(), result) != line) spans_.push_back({result, line});
  }
  // Appends the lines of further results, of which the first is now result `first`.
  void Append(const ResultLines& others, size_t first) {
    for (const LineSpan& span : others.spans_) spans_.push_back({first + span.first, span.line});
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

// A run, and where it was read from.
struct RunWithLines {
  Run run;
  std::vector<ResultLines> lines;  // of each query
};

void ReadResults(LineReader& reader, RunWithLines& read) {
  Run& run = read.run;
  std::string_view line;
  while (reader.Next(&line)) {
    const RunLine parsed = ParseLine(reader, line);
    QueryResults& query = run.AddQuery(parsed.query);
    const auto index = static_cast<size_t>(&query - run.queries().data());
    if (index == read.lines.size()) {
      read.lines.emplace_back();
      // Queries mostly have as many results as the one before.
      if (index > 0) query.results.reserve(run.queries()[index - 1].results.size());
    }
    read.lines[index].Add(query.results.size(), reader.line_number());
    query.results.push_back({run.Keep(parsed.document), parsed.score});
  }
}

void Append(RunWithLines part, RunWithLines& whole) {
  for (size_t q = 0; q < part.lines.size(); ++q) {
    const QueryResults& query = whole.run.AddQuery(part.run.queries()[q].query);
    const auto index = static_cast<size_t>(&query - whole.run.queries().data());
    if (index == whole.lines.size()) whole.lines.emplace_back();
    whole.lines[index].Append(part.lines[q], query.results.size());
  }
  whole.run.Append(std::move(part.run));
}

// Throws where a query has a document twice. `seen` is for the memory of it.
void CheckDuplicates(const std::string& file, const QueryResults& query, const ResultLines& lines,
                     SlotTable& seen) {
  const std::vector<ScoredDocument>& results = query.results;
  seen.Reset(results.size());
  for (size_t r = 0; r < results.size(); ++r) {
    const std::string_view document = results[r].document;
    const auto earlier =
        seen.FindOrInsert(IdHash(document), static_cast<uint32_t>(r),
                          [&](uint32_t index) { return results[index].document == document; });
    if (earlier) {
      throw DataError(file, lines.LineOf(r), query.query,
                      fmt::format("document {} was given in line {} already", document,
                                  lines.LineOf(*earlier)));
    }
  }
}

constexpr size_t kQueriesAtATime = 16;

// The run, when it holds results and no query has a document twice; of several such queries the
// first is named, whatever the threads.
Run Checked(const std::string& file, RunWithLines read, int threads) {
  const std::vector<QueryResults>& queries = read.run.queries();
  if (queries.empty()) throw DataError(file, 0, "", "holds no results");
  std::map<size_t, std::exception_ptr> failures;
  std::mutex mutex;
  ParallelFor(queries.size(), kQueriesAtATime, threads, [&](size_t begin, size_t end) {
    SlotTable seen;
    for (size_t q = begin; q < end; ++q) {
      try {
        CheckDuplicates(file, queries[q], read.lines[q], seen);
      } catch (const DataError&) {
        const std::scoped_lock lock(mutex);
        failures.emplace(q, std::current_exception());
      }
    }
  });
  if (!failures.empty()) std::rethrow_exception(failures.begin()->second);
  return std::move(read.run);
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
  RunWithLines read;
  ReadResults(reader, read);
  return Checked(reader.file(), std::move(read), 1);
}

Run ReadTrecRun(const std::filesystem::path& path, Warnings* warnings, int threads) {
  WarningScope scope(warnings);
  TextBlocks blocks(path);
  std::map<size_t, RunWithLines> parts;  // by the index of the block
  std::mutex mutex;
  ParseBlocks(blocks, threads, scope.get(), [&](size_t index, LineReader& reader) {
    RunWithLines part;
    ReadResults(reader, part);
    const std::scoped_lock lock(mutex);
    parts.emplace(index, std::move(part));
  });
  RunWithLines whole;
  for (auto& [index, part] : parts) Append(std::move(part), whole);
  return Checked(blocks.file(), std::move(whole), threads);
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
