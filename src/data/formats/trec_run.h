// TREC runs: `query Q0 document rank score tag`, separated by blanks.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "data/input/line_reader.h"
#include "data/judgements/run.h"
#include "data/warnings.h"

namespace tandem::data {

// Reads a run, plain or gzip. Iteration, rank and tag are ignored, as in trec_eval; fields after
// the tag are ignored and counted. Throws DataError naming file, line and query for a line with
// fewer fields, a score that is not a finite number, a document that a query has twice (naming both
// lines), and a file without results. What is counted goes to `warnings`, or to stderr where null.
// The result, errors included, does not depend on `threads`.
Run ReadTrecRun(const std::filesystem::path& path, Warnings* warnings = nullptr, int threads = 1);

// Reads a run from an open reader.
Run ReadTrecRun(LineReader& reader);

// Throws DataError that names `file` for an id that no run can hold: one that is empty or has
// blanks.
void CheckTrecId(const std::filesystem::path& file, std::string_view id);

// Writes `run` atomically, its queries and results in their order with ranks from 1, scores in the
// shortest form that reads back to the same float or double. Throws UsageError for a tag that is
// empty or holds blanks, what CheckTrecId throws, OutputError.
void WriteTrecRun(const std::filesystem::path& path, const Run& run, std::string_view tag);

// Gives the same text, query by query, to `write`; errors about ids name `file`.
void WriteTrecRun(const std::function<void(std::string_view)>& write,
                  const std::filesystem::path& file, const Run& run, std::string_view tag);

}  // namespace tandem::data
