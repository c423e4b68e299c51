// JSON lines {"_id", "text"[, "title"]}: BEIR's corpus.jsonl and queries.jsonl, and what
// `tandem encode` reads. Also gzip-compressed.
#pragma once

#include <filesystem>

#include "data/line_reader.h"
#include "data/texts.h"
#include "data/warnings.h"

namespace tandem::data {

// Documents have titles: text = title + " " + text where the title is not empty. A query's title,
// if any, is no part of its text.
enum class TextRole { kDocument, kQuery };

// Reads a file, or standard input for "-". `_id` is a string or an integer (taken in decimal) and
// must be unique, not empty and without control characters; other keys are ignored, as BEIR files
// carry `metadata`. Empty texts are kept and counted. Throws DataError naming file, line and id;
// also when there is no text at all. What is counted goes to `warnings`, or to stderr where null.
Texts ReadTexts(const std::filesystem::path& path, TextRole role, Warnings* warnings = nullptr);

// The same from an open reader.
Texts ReadTexts(LineReader& reader, TextRole role);

}  // namespace tandem::data
