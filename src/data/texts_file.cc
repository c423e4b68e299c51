#include "data/texts_file.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "data/empty_text.h"
#include "data/json_fields.h"

namespace tandem::data {
namespace {

std::string_view IdOf(const LineReader& reader, std::span<const JsonField> fields) {
  if (FindField(fields, "_id") == nullptr && FindField(fields, "id") != nullptr) {
    throw reader.Error(R"(has "id" where BEIR's files have "_id"; rename the key)");
  }
  if (FindField(fields, "_id") == nullptr) {
    throw reader.Error(R"(has no "_id"; expected {"_id": ..., "text": ...})");
  }
  return RequireId(reader, fields, "_id");
}

}  // namespace

bool TextStream::Next(std::string_view* id, std::string_view* text) {
  std::string_view line;
  if (!reader_.Next(&line)) {
    if (any_) return false;
    throw DataError(reader_.file(), 0, "",
                    role_ == TextRole::kDocument ? "holds no document" : "holds no query");
  }
  any_ = true;
  const std::span<const JsonField> fields = parser_.Parse(reader_, line);
  *id = IdOf(reader_, fields);
  const DocumentText read = role_ == TextRole::kDocument
                                ? RequireDocumentText(reader_, fields, *id, &joined_)
                                : DocumentText{RequireText(reader_, fields, "text", *id)};
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
