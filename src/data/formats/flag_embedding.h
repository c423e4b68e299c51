// FlagEmbedding's training lines: `{"query", "pos", "neg"[, "pos_scores", "neg_scores"]...}`.
#pragma once

#include <filesystem>
#include <string_view>

#include "data/dataset.h"
#include "data/input/line_reader.h"
#include "data/lines/example_sink.h"
#include "data/lines/line_rules.h"
#include "data/warnings.h"

namespace tandem::data {

// Reads a file, plain or gzip. `pos` and `neg` are lists of strings; `neg` may be missing or empty.
// `pos_scores` and `neg_scores` have a number for each of them (ScoreKind::kLists); instead,
// `pos_probabilities` and `neg_probabilities` have a list of a judge's p(0..N) for each
// (kProbabilities). data/lines/score_meaning.h says what they mean. Null is as good as missing. The
// `prompt` of the lines becomes the data set's query_prompt: all lines have the same one, or none.
// `type` (the task) and other keys are counted and named, except those that look like one of these,
// which are errors. Negatives that are null or empty are left out with their scores, and counted.
//
// As in sentence_transformers.h, texts have no ids: the same text is one query or one document
// wherever it stands, named after the place where it was first seen: query "12", document
// "12:pos:1" (line 12, first of `pos`). Positives have grade 1, negatives grade 0; a text that is
// both for one query stays positive and is counted. Empty queries and positives are kept and
// counted.
//
// Throws DataError naming file and line for broken JSON, a missing `query` or `pos`, a value of
// another type, scores that do not match the documents, lines whose scores are of different kinds,
// lines with different prompts, and a file without lines. What is counted goes to `warnings`, or to
// stderr where null.
Dataset ReadFlagEmbedding(const std::filesystem::path& path, Warnings* warnings = nullptr);

// Reads the same format from an open reader.
Dataset ReadFlagEmbedding(LineReader& reader);

// Reads the lines into `sink`, one after the other. Accepts a file without lines: the sink's owner
// refuses it.
void ReadFlagEmbedding(LineReader& reader, const LineRules& rules, ExampleSink& sink);

// What a key of a line is read as, in words ("query", "positive", "negative", "scores", ...); "":
// the format does not read it.
std::string_view FlagEmbeddingRole(std::string_view key);

}  // namespace tandem::data
