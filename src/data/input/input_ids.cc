#include "data/input/input_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/input/byte_source.h"

namespace tandem::data {
namespace {

// A place is the number of a file and a line of it. Files beyond those that have room share a
// number, which only messages show; no file has as many lines.
constexpr int kLineBits = 44;
constexpr uint64_t kMostFiles = uint64_t{1} << (64 - kLineBits);

uint64_t PlaceOf(const InputText& text) {
  const uint64_t file = std::min<uint64_t>(text.file_number, kMostFiles - 1);
  return file << kLineBits | static_cast<uint64_t>(text.line);
}

size_t FileOf(uint64_t place) { return static_cast<size_t>(place >> kLineBits); }
int64_t LineOf(uint64_t place) {
  return static_cast<int64_t>(place & ((uint64_t{1} << kLineBits) - 1));
}

// Reads the file again up to that line.
std::string IdAt(TextInputOptions options, const InputFile& file, int64_t line) {
  if (!file.is_regular) return "";
  options.inputs = {file.path.native()};
  options.format = TextFormatName(file.format);
  Warnings ignored;
  TextInput input(std::move(options), ignored);
  InputText text;
  while (input.Next(&text)) {
    if (text.line == line) return std::string(text.id);
  }
  return "";
}

}  // namespace

InputIds::InputIds(TextInputOptions options, std::filesystem::path folder, size_t ids_in_memory)
    : options_(std::move(options)), ids_(std::move(folder), ids_in_memory) {}

void InputIds::Throw(const TextInput& input, uint64_t first, uint64_t second,
                     std::string id) const {
  const InputFile& file = input.files()[FileOf(second)];
  if (id.empty()) id = IdAt(options_, file, LineOf(second));
  const std::string other =
      FileOf(first) == FileOf(second)
          ? fmt::format("line {}", LineOf(first))
          : fmt::format("{}:{}", NameOfInput(input.files()[FileOf(first)].path), LineOf(first));
  throw DataError(
      NameOfInput(file.path), LineOf(second), id,
      fmt::format("has the same {} as {}",
                  options_.id_field.empty() ? "number" : fmt::format("\"{}\"", options_.id_field),
                  other));
}

void InputIds::Add(const TextInput& input, const InputText& text) {
  const uint64_t place = PlaceOf(text);
  if (const auto earlier = ids_.Add(text.id, place)) {
    Throw(input, *earlier, place, std::string(text.id));
  }
}

void InputIds::Finish(const TextInput& input) {
  if (const auto repeated = ids_.FindRepeated())
    Throw(input, repeated->first, repeated->second, "");
}

}  // namespace tandem::data
