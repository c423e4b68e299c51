// Texts from one or many files, one by one, in constant memory: for `encode` and for building
// indexes.
//
//   TextInput input(options, warnings);
//   InputText text;
//   while (input.Next(&text)) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/input/input_files.h"
#include "data/texts/metadata.h"
#include "data/texts/text_role.h"
#include "data/warnings.h"

namespace tandem::data {

struct TextInputOptions {
  // Files, also .gz; BEIR folders (their corpus.jsonl, or queries.jsonl for queries), glob
  // patterns (*, ?, [...]; a file of that very name wins), and "-", standard input. Read in this
  // order; what a pattern matches, in the order of bytes. A pattern that matches nothing is a
  // UsageError.
  std::vector<std::string> inputs;
  // "auto" goes by the file's name: .tsv is tsv, .txt is lines (each also with .gz), all others and
  // standard input are jsonl. "jsonl", "tsv" (the first line names the columns, tabs separate them,
  // nothing is quoted), "lines" (each line is a text, blank ones too; its id is its number among
  // the texts of all files, from 1).
  std::string format = "auto";
  TextRole role = TextRole::kDocument;
  std::string id_field = "_id";       // "": ids are such numbers in all formats
  std::string text_field = "text";    // `title` stands before it where the role is kDocument
  std::vector<MetadataField> fields;  // wanted of each text; jsonl and tsv only
};

struct InputText {
  std::string_view id;
  std::string_view text;
  size_t title_bytes = 0;                   // of `text`, as in Texts
  std::span<const MetadataValue> metadata;  // [fields]
  std::string_view file;
  size_t file_number = 0;  // of TextInput::files()
  int64_t line = 0;
};

class TextInput {
 public:
  // Resolves and opens what can be checked before anything is read; throws UsageError, DataError.
  TextInput(TextInputOptions options, Warnings& warnings);
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;
  ~TextInput();

  // False at the end. Views are valid until the next call. Throws DataError naming file and line,
  // also at the end where no file had a text; one empty file among others is counted. Empty texts
  // come as they are and are not counted; ids that come twice are the caller's to find.
  bool Next(InputText* text);

  // Skips `count` texts without looking at them, for a caller that goes on where it stopped. Throws
  // DataError where there are fewer.
  void Skip(uint64_t count);
  // Skips as many, or all that are left, and returns how many that were: to count texts.
  uint64_t SkipUpTo(uint64_t count);

  // All files, in the order in which they are read.
  std::span<const InputFile> files() const;

  // A hash of what decides which texts come: resolved files with sizes and times of change, format,
  // fields. "-" and pipes cannot be resumed and make it 0.
  uint64_t SourceHash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem::data
