// Writes a data set in any of the formats that data/read_dataset.h reads.
//
//   data::WriteDataset(dataset, "flag_embedding", "train.jsonl.gz");
//
// Writers go through the data set once or twice and hold nothing but some bytes for each text, so
// that writing takes less memory than reading did. To write a part, pass a data set with fewer
// judgements: copies share their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "data/warnings.h"

namespace tandem::data {

struct WriteOptions {
  // BEIR: the judgements go to qrels/SPLIT.tsv.
  std::string split = "train";
  // In formats of lines a document of this grade or more is a positive, one of grade 0 a negative;
  // those between are neither and left out, and no grades are written. Without it every grade above
  // 0 is a positive, and where there are other grades than 0 and 1, they are written as scores.
  // Grades from 0 to 1 that tell nothing but positives from negatives stay as they are.
  std::optional<double> positive_grade;
  // sentence_transformers: the negatives of a line; 0 leaves all out. Queries with fewer are
  // left out. Without it a line has as many as the query with the fewest.
  std::optional<size_t> negatives;
  // BEIR: the split of each query, instead of `split` for all; and judgements that are not written
  // (a document that is held out must not be a negative of training). Empty: none.
  std::function<std::string_view(uint32_t query)> split_of_query;
  std::function<bool(uint32_t query, const Judgement& judgement)> leaves_out;
  // sentence_transformers: what the columns of a query, a positive (or judged document) and its
  // scores are called; "": as the format's writer calls them.
  std::string query_column;
  std::string document_column;
  std::string score_column;
};

// Counts of the output that was written.
struct WriteCounts {
  size_t queries = 0;
  size_t documents = 0;   // different ones
  size_t judgements = 0;  // different pairs of query and document
  size_t lines = 0;       // of training lines; 0 for a BEIR folder
};

// Throws what is wrong with the call, before any work: UsageError for an unknown format, an option
// that the format does not have, an output that exists already, and a file in no folder. `format`
// is spelled as in recipes: beir, sentence_transformers, flag_embedding, tevatron.
void CheckWriteRequest(std::string_view format, const std::filesystem::path& output,
                       const WriteOptions& options = {});

// Throws UsageError where the format would lose what training needs (below) or cannot hold what the
// data set has: before long work whose result is a part of the data set in that format.
void CheckFormatHolds(const Dataset& dataset, std::string_view format,
                      const WriteOptions& options = {});

// Writes a BEIR folder, or a file of JSON lines, gzip-compressed where its name ends in .gz. It
// appears at `output` when it is complete. The same data set makes the same bytes. What each format
// holds, and what it leaves out, stands in docs/cli/convert.md; what is left out is counted in
// `warnings`, or on stderr where null.
//
// Throws what CheckWriteRequest throws; UsageError where the format would lose what training needs:
// scores that a BEIR folder has no place for, and sentence-transformers columns where some queries
// have negatives and others none; DataError where nothing is left to write, for a text that is not
// valid UTF-8, and for an id that judgements cannot hold; OutputError.
WriteCounts WriteDataset(const Dataset& dataset, std::string_view format,
                         const std::filesystem::path& output, const WriteOptions& options = {},
                         Warnings* warnings = nullptr);

}  // namespace tandem::data
