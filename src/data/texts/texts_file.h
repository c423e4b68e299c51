// Reads JSON lines {"_id", "text"[, "title"]}, plain or gzip-compressed: BEIR's corpus.jsonl and
// queries.jsonl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/input/json_texts.h"
#include "data/input/line_reader.h"
#include "data/texts/text_role.h"
#include "data/texts/texts.h"
#include "data/warnings.h"

namespace tandem::data {

// Gives the texts of an open reader, one by one. The same id may come twice; everything else is
// checked and counted as in ReadTexts.
class TextStream {
 public:
  // `reader` must outlive the stream.
  TextStream(LineReader& reader, TextRole role)
      : reader_(reader), role_(role), texts_({.role = role}) {}

  // False at the end. The views are valid until the next call. Throws DataError, also at the end of
  // a file without any text.
  bool Next(std::string_view* id, std::string_view* text);
  // Says how many of the last text's first bytes are its title.
  size_t title_bytes() const { return title_bytes_; }

 private:
  LineReader& reader_;
  TextRole role_;
  JsonTexts texts_;
  size_t title_bytes_ = 0;
  bool any_ = false;
};

// Texts as they come from a file. Remembers the line of each, so that an error about two equal ids
// names both lines.
class UniqueTexts {
 public:
  // Adds the text of the reader's line. Throws DataError where the id was there already.
  void Add(const LineReader& reader, std::string_view id, std::string_view text,
           size_t title_bytes = 0);

  // The texts so far; there are none afterwards.
  Texts Take();

 private:
  Texts texts_;
  std::vector<int64_t> lines_;  // of each text
};

// Reads a file, or standard input for "-". `_id` is a string or an integer (taken in decimal) and
// must be unique, not empty and without control characters; other keys are ignored, as BEIR files
// carry `metadata`. Empty texts are kept and counted. Throws DataError naming file, line and id;
// also when there is no text at all. What is counted goes to `warnings`, or to stderr where null.
Texts ReadTexts(const std::filesystem::path& path, TextRole role, Warnings* warnings = nullptr);

// Reads the texts of an open reader.
Texts ReadTexts(LineReader& reader, TextRole role);

}  // namespace tandem::data
