// The documents of one training line with their scores, before they are judged; internal to the
// readers of formats whose texts have no ids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/input/line_reader.h"
#include "data/lines/example_sink.h"
#include "data/lines/json_line.h"

namespace tandem::data {

struct LineDocument {
  std::string_view text;
  std::string id;
  std::string_view key;  // where it stands
  double grade = 0;      // 1 for a positive, 0 for a negative, by that key
  bool is_null = false;  // there is no text
  double score = kNoScore;
};

// Appends the texts of `field` (a string, a null, or a list of them) to `documents`, named
// LINE:KEY, and LINE:KEY:PLACE in a list. Throws DataError for another type.
void AppendDocuments(const LineReader& reader, const JsonField& field, double grade,
                     std::vector<LineDocument>& documents);

// Takes negatives out that are null or empty, with their scores, and counts them: columns of
// unequal rows have them. `scores`: those of the line, or null; of an open list, a document of
// score 0 is a negative too. Throws DataError for a positive that is null, and for a document
// without a score where the line gives scores.
void DropMissing(ExampleSink& sink, const LineReader& reader, const LineScores* scores,
                 std::vector<LineDocument>& documents);

// Adds a judgement for each of `documents`, for the query with that text.
void JudgeLine(ExampleSink& sink, const LineReader& reader, std::string_view query, uint64_t apart,
               const std::vector<LineDocument>& documents);

// "f.jsonl:3: "query" is null; expected a string".
std::string_view RequireString(const LineReader& reader, const JsonField& field);

}  // namespace tandem::data
