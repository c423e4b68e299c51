#include "data/input/text_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/hashes/running_hash.h"
#include "data/input/byte_source.h"
#include "data/input/text_lines.h"

namespace tandem::data {

struct TextInput::State {
  State(TextInputOptions given, Warnings& counted)
      : options(std::move(given)),
        warnings(counted),
        keys{.role = options.role,
             .id = options.id_field,
             .text = options.text_field,
             .chosen_by_flags = true},
        files(FindInputFiles(options.inputs, options.format, options.role)) {
    for (const InputFile& file : files) MakeTextLines(file.format, keys, options.fields);
  }

  // Makes `reader` one that may have a further text; false after the last file.
  bool Open() {
    if (reader != nullptr) return true;
    if (next_file == files.size()) return false;
    const InputFile& file = files[next_file++];
    reader = std::make_unique<LineReader>(file.path, warnings);
    lines = MakeTextLines(file.format, keys, options.fields);
    in_file = 0;
    return true;
  }

  void Close() {
    if (in_file == 0 && files.size() > 1) warnings.Count(reader->file(), "files without a text", 0);
    if (in_file == 0 && next_file == files.size() && number == 0) ThrowNothing();
    lines.reset();
    reader.reset();
  }

  [[noreturn]] void ThrowNothing() const {
    const std::string_view what = options.role == TextRole::kDocument ? "document" : "query";
    throw DataError(
        NameOfInput(files.front().path), 0, "",
        files.size() == 1
            ? fmt::format("holds no {}", what)
            : fmt::format("holds no {}, nor does any other of the {} files", what, files.size()));
  }

  std::string_view DefaultId() {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number + 1).ptr;
    return {digits.data(), static_cast<size_t>(end - digits.data())};
  }

  TextInputOptions options;
  Warnings& warnings;
  TextKeys keys;
  std::vector<InputFile> files;
  size_t next_file = 0;                // that is opened next
  std::unique_ptr<LineReader> reader;  // of the file before; null between files
  std::unique_ptr<TextLines> lines;
  uint64_t in_file = 0;  // texts of it so far
  uint64_t number = 0;   // texts of all files so far
  std::array<char, 24> digits{};
};

TextInput::TextInput(TextInputOptions options, Warnings& warnings)
    : state_(std::make_unique<State>(std::move(options), warnings)) {}
TextInput::~TextInput() = default;

bool TextInput::Next(InputText* text) {
  State& state = *state_;
  for (; state.Open(); state.Close()) {
    if (!state.lines->Next(*state.reader, state.DefaultId(), text)) continue;
    ++state.in_file;
    ++state.number;
    text->file = state.reader->file();
    text->file_number = state.next_file - 1;
    text->line = state.reader->line_number();
    return true;
  }
  return false;
}

uint64_t TextInput::SkipUpTo(uint64_t count) {
  State& state = *state_;
  const uint64_t start = state.number, end = start + count;
  for (; state.number < end && state.Open(); state.Close()) {
    while (state.number < end && state.lines->Skip(*state.reader)) {
      ++state.in_file;
      ++state.number;
    }
    if (state.number == end) break;
  }
  return state.number - start;
}

void TextInput::Skip(uint64_t count) {
  const uint64_t end = state_->number + count;
  SkipUpTo(count);
  if (state_->number < end) {
    throw DataError(NameOfInput(state_->files.front().path), 0, "",
                    fmt::format("has fewer texts than before: {} of {}", state_->number, end));
  }
}

std::span<const InputFile> TextInput::files() const { return state_->files; }

uint64_t TextInput::SourceHash() const {
  const TextInputOptions& options = state_->options;
  RunningHash hash;
  hash.Add(static_cast<uint64_t>(options.role));
  hash.Add(options.id_field);
  hash.Add(options.text_field);
  for (const MetadataField& field : options.fields) {
    hash.Add(field.name);
    hash.Add(MetadataTypeName(field.type));
  }
  for (const InputFile& file : state_->files) {
    if (!file.is_regular) return 0;
    hash.Add(std::filesystem::absolute(file.path).lexically_normal().native());
    hash.Add(TextFormatName(file.format));
    hash.Add(file.bytes);
    hash.Add(static_cast<uint64_t>(file.modified_ns));
  }
  return std::max<uint64_t>(1, hash.value());
}

}  // namespace tandem::data
