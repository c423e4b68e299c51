// sentence-transformers columns as JSON lines: `{"anchor", "positive"[, "negative"...]}`.
#pragma once

#include <filesystem>

#include "data/dataset.h"
#include "data/line_reader.h"
#include "data/warnings.h"

namespace tandem::data {

// Reads a file, plain or gzip. The query is `anchor`, `query` or `question`; the positive
// `positive`, `document` or `answer`; negatives `negative`, `negative_1`, `negative_2`, ...
// Positive and negatives may be lists of strings. Other keys are ignored and counted.
//
// The columns know texts, not ids: the same text is one query or one document wherever it stands,
// so a query knows the positives of all its lines. Ids say where a text was first seen: query
// "12", documents "12:positive" or "12:negative_2" (line 12; ":3" behind it counts within a list).
// Positives have grade 1, negatives grade 0; a text that is both for one query stays positive and
// is counted. Empty texts are kept and counted.
//
// Throws DataError naming file and line for broken JSON, a missing column or two that mean the
// same, a value of another type, a line without positive, and a file without lines. What is counted
// goes to `warnings`, or to stderr where null.
Dataset ReadColumns(const std::filesystem::path& path, Warnings* warnings = nullptr);

// The same from an open reader.
Dataset ReadColumns(LineReader& reader);

}  // namespace tandem::data
