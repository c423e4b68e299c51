// sentence-transformers columns as JSON lines: `{"anchor", "positive"[, "negative"...][,
// "score"]}`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "data/input/line_reader.h"
#include "data/lines/example_sink.h"
#include "data/lines/line_rules.h"
#include "data/warnings.h"

namespace tandem::data {

// Reads a file, plain or gzip. The query is `anchor`, `query`, `question`, `sentence1` or
// `premise`; the positive `positive`, `document`, `answer`, `sentence2` or `hypothesis`; negatives
// `negative`, `negative_1`, `negative_2`, ... Positive and negatives may be lists of strings. The
// package takes columns by their order; here names decide. Other keys are counted and named, except
// those that look like one of these: they are errors (data/lines/key_roles.h).
//
// Scores are in `score`, `scores`, `label` or `labels`, by what sentence-transformers' losses take
// and its mine_hard_negatives writes:
//  - a number on a line without negatives is the score of its pair (ScoreKind::kPairs);
//  - a list with a number for each document, positives first, then negatives in the order of their
//    columns: their scores (kLists). Without negatives beside it nothing but these numbers says
//    which of the documents are positives;
//  - with one positive, a list with a number for each negative, or a number for the only one:
//    margins, positive minus negative (kMargins). Margins to different positives of a query, and
//    margins and scores of one query, are queries of their own with the same text: their scores
//    cannot be compared.
// data/lines/score_meaning.h says what they mean; numbers may be strings, booleans, or words that
// the rules name. `probabilities` are a judge's p(0..N) of the pair, or a list of such lists
// (kProbabilities).
//
// Negatives that are null or empty are left out with their scores, and counted.
//
// The columns know texts, not ids: the same text is one query or one document wherever it stands,
// so a query knows the positives of all its lines. Ids say where a text was first seen: query
// "12", documents "12:positive" or "12:negative_2" (line 12; ":3" after it counts within a list).
// Positives have grade 1, negatives grade 0; a text that is both for one query stays positive and
// is counted. Empty queries and positives are kept and counted.
//
// Throws DataError naming file and line for broken JSON, a missing column or two that mean the
// same, a value of another type, a line without positive, scores that do not match the documents,
// lines whose scores are of different kinds, and a file without lines. What is counted goes to
// `warnings`, or to stderr where null.
Dataset ReadColumns(const std::filesystem::path& path, Warnings* warnings = nullptr);

// Reads the same columns from an open reader.
Dataset ReadColumns(LineReader& reader);

// Reads the lines into `sink`, one after the other. Accepts a file without lines: the sink's owner
// refuses it.
void ReadColumns(LineReader& reader, const LineRules& rules, ExampleSink& sink);

// The names of a file's columns, by its first line; "": it has none.
struct ColumnNames {
  std::string query;     // "anchor", "question", ...
  std::string positive;  // "positive", "answer", ...
  std::string score;     // "score", "label", ...
};
// Throws DataError for a file that cannot be read or has no line.
ColumnNames ColumnNamesOf(const std::filesystem::path& path);

// What a key of a line is read as, in words ("query", "positive", "negative", "label or score",
// ...); "": the format does not read it.
std::string_view ColumnRole(std::string_view key);

}  // namespace tandem::data
