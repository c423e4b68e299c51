#include "data/texts_file.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "data/json_id.h"

namespace tandem::data {
namespace {

using Kind = JsonField::Kind;

std::string_view IdOf(const LineReader& reader, std::span<const JsonField> fields) {
  if (FindField(fields, "_id") == nullptr) {
    throw reader.Error(R"(has no "_id"; expected {"_id": ..., "text": ...})");
  }
  return RequireId(reader, fields, "_id");
}

std::string_view StringField(const LineReader& reader, std::span<const JsonField> fields,
                             std::string_view key, std::string_view id) {
  const JsonField* field = FindField(fields, key);
  if (field == nullptr) throw reader.Error(fmt::format("has no \"{}\"", key), id);
  if (field->kind != Kind::kString) {
    throw reader.Error(fmt::format("\"{}\" is {}; expected a string", key, KindName(field->kind)),
                       id);
  }
  return field->text;
}

// Empty where there is none; null, as some exporters write it, is none.
std::string_view TitleOf(const LineReader& reader, std::span<const JsonField> fields,
                         std::string_view id) {
  const JsonField* field = FindField(fields, "title");
  if (field == nullptr || field->kind == Kind::kNull) return {};
  return StringField(reader, fields, "title", id);
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
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
  *text = StringField(reader_, fields, "text", *id);
  if (role_ == TextRole::kDocument) {
    const std::string_view title = TitleOf(reader_, fields, *id);
    if (!title.empty()) {
      joined_.assign(title).append(" ").append(*text);
      *text = joined_;
    }
  }
  if (IsBlank(*text)) {
    reader_.warnings().Count(reader_.file(), "empty texts, kept", reader_.line_number(), *id);
  }
  return true;
}

Texts ReadTexts(LineReader& reader, TextRole role) {
  Texts texts;
  TextStream stream(reader, role);
  std::vector<int64_t> lines;  // of each text, to name both places of a duplicate
  std::string_view id, text;
  while (stream.Next(&id, &text)) {
    if (!texts.Add(id, text)) {
      throw reader.Error(fmt::format("has the same \"_id\" as line {}", lines[*texts.Find(id)]),
                         id);
    }
    lines.push_back(reader.line_number());
  }
  return texts;
}

Texts ReadTexts(const std::filesystem::path& path, TextRole role, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadTexts(reader, role);
}

}  // namespace tandem::data
