// The formats of text files: how the lines of one become texts. Internal to TextInput.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "data/input/input_files.h"
#include "data/input/json_texts.h"
#include "data/input/line_reader.h"
#include "data/input/text_input.h"
#include "data/texts/metadata.h"

namespace tandem::data {

// The texts of one file. The reader is the same in all calls.
class TextLines {
 public:
  virtual ~TextLines() = default;

  // Sets id, text, title and metadata of `text`, valid until the next call, and returns true; false
  // at the end. A text without an id of its own gets `default_id`. Throws DataError.
  virtual bool Next(LineReader& reader, std::string_view default_id, InputText* text) = 0;
  // Passes over a text without looking at it; false at the end. Throws DataError.
  virtual bool Skip(LineReader& reader) = 0;
};

// `keys` and `fields` must outlive the lines. Throws UsageError where fields are wanted of a format
// that has none.
std::unique_ptr<TextLines> MakeTextLines(TextFormat format, const TextKeys& keys,
                                         const std::vector<MetadataField>& fields);

// The error of a field whose value is of another type: `found` is what stands there.
[[noreturn]] void ThrowWrongMetadata(const LineReader& reader, const MetadataField& field,
                                     std::string_view id, std::string_view found);

// Made in text_lines_tsv.cc. The first line names the columns; tabs separate them, blanks around a
// value are no part of it, and nothing is quoted or escaped.
std::unique_ptr<TextLines> MakeTsvLines(const TextKeys& keys,
                                        const std::vector<MetadataField>& fields);

}  // namespace tandem::data
