#include "data/texts/texts_file.h"

#include <fmt/format.h>

#include <utility>

#include "data/texts/empty_text.h"

namespace tandem::data {

bool TextStream::Next(std::string_view* id, std::string_view* text) {
  std::string_view line;
  if (!reader_.Next(&line)) {
    if (any_) return false;
    throw DataError(reader_.file(), 0, "",
                    role_ == TextRole::kDocument ? "holds no document" : "holds no query");
  }
  any_ = true;
  const JsonText read = texts_.Read(reader_, line);
  *id = read.id;
  *text = read.text;
  title_bytes_ = read.title_bytes;
  if (IsEmptyText(*text)) {
    reader_.warnings().Count(reader_.file(), "empty texts, kept", reader_.line_number(), *id);
  }
  return true;
}

void UniqueTexts::Add(const LineReader& reader, std::string_view id, std::string_view text,
                      size_t title_bytes) {
  if (!texts_.Add(id, text, title_bytes)) {
    throw reader.Error(fmt::format("has the same \"_id\" as line {}", lines_[*texts_.Find(id)]),
                       id);
  }
  lines_.push_back(reader.line_number());
}

Texts UniqueTexts::Take() {
  lines_.clear();
  return std::exchange(texts_, {});
}

Texts ReadTexts(LineReader& reader, TextRole role) {
  UniqueTexts texts;
  TextStream stream(reader, role);
  std::string_view id, text;
  while (stream.Next(&id, &text)) texts.Add(reader, id, text, stream.title_bytes());
  return texts.Take();
}

Texts ReadTexts(const std::filesystem::path& path, TextRole role, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadTexts(reader, role);
}

}  // namespace tandem::data
