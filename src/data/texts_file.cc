#include "data/texts_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "data/json_line.h"

namespace tandem::data {
namespace {

using Kind = JsonField::Kind;

std::string_view IdOf(const LineReader& reader, std::span<const JsonField> fields) {
  const JsonField* field = FindField(fields, "_id");
  if (field == nullptr) {
    throw reader.Error(R"(has no "_id"; expected {"_id": ..., "text": ...})");
  }
  if (field->kind != Kind::kString && field->kind != Kind::kInteger) {
    throw reader.Error(fmt::format("\"_id\" is {}; expected a string", KindName(field->kind)));
  }
  if (field->text.empty()) throw reader.Error("\"_id\" is empty");
  // Tabs and line ends would break every file that ids are written to.
  if (std::any_of(field->text.begin(), field->text.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
    throw reader.Error("\"_id\" contains a control character");
  }
  return field->text;
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

Texts ReadTexts(LineReader& reader, TextRole role) {
  Texts texts;
  JsonLineParser parser;
  std::vector<int64_t> lines;  // of each text, to name both places of a duplicate
  std::string joined;
  std::string_view line;
  while (reader.Next(&line)) {
    const std::span<const JsonField> fields = parser.Parse(reader, line);
    const std::string_view id = IdOf(reader, fields);
    std::string_view text = StringField(reader, fields, "text", id);
    if (role == TextRole::kDocument) {
      const std::string_view title = TitleOf(reader, fields, id);
      if (!title.empty()) {
        joined.assign(title).append(" ").append(text);
        text = joined;
      }
    }
    if (IsBlank(text)) {
      reader.warnings().Count(reader.file(), "empty texts, kept", reader.line_number(), id);
    }
    if (!texts.Add(id, text)) {
      throw reader.Error(fmt::format("has the same \"_id\" as line {}", lines[*texts.Find(id)]),
                         id);
    }
    lines.push_back(reader.line_number());
  }
  if (texts.size() == 0) {
    throw DataError(reader.file(), 0, "",
                    role == TextRole::kDocument ? "holds no document" : "holds no query");
  }
  return texts;
}

Texts ReadTexts(const std::filesystem::path& path, TextRole role, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadTexts(reader, role);
}

}  // namespace tandem::data
