// Tevatron's training lines: `{"query_id", "query", "positive_passages", "negative_passages"}`.
#pragma once

#include <filesystem>
#include <string_view>

#include "data/dataset.h"
#include "data/input/line_reader.h"
#include "data/lines/example_sink.h"
#include "data/lines/line_rules.h"
#include "data/warnings.h"

namespace tandem::data {

// Reads a file, plain or gzip. Passages are lists of `{"docid", "text"[, "title"][, "score"]}`; a
// document's text is title + " " + text where there is a title. `negative_passages` may be missing
// or empty. Ids are strings or integers (taken in decimal); a query or document that comes again
// must have the same text. Queries and passages without an id, and with LineRules::ids_of_texts all
// of them, are known by their texts, as in the formats without ids (sentence_transformers.h), and
// named LINE, and LINE:KEY:PLACE. A passage's `score` is a label or a teacher's score
// (ScoreKind::kLists; data/lines/score_meaning.h); instead, `probabilities` are a judge's p(0..N)
// (kProbabilities). Null is as good as missing. Other keys are counted and named, except those that
// look like one of these, which are errors.
//
// Positives have grade 1, negatives grade 0; a document that is both for one query stays positive
// and is counted. Negatives that are null or empty are left out and counted; empty queries and
// positives are kept and counted.
//
// Throws DataError naming file, line and id for broken JSON, a missing or empty key, a value of
// another type, an id with two texts, a line without positive, lines whose scores are of different
// kinds, and a file without lines. What is counted goes to `warnings`, or to stderr where null.
Dataset ReadTevatron(const std::filesystem::path& path, Warnings* warnings = nullptr);

// Reads the same format from an open reader.
Dataset ReadTevatron(LineReader& reader);

// Reads the lines into `sink`, one after the other. Accepts a file without lines: the sink's owner
// refuses it.
void ReadTevatron(LineReader& reader, const LineRules& rules, ExampleSink& sink);

// What a key of a line is read as, in words ("query", "positive", "negative", ...); "":
// the format does not read it.
std::string_view TevatronRole(std::string_view key);

}  // namespace tandem::data
