#include "data/lines/json_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::data {

std::string_view RequireId(const LineReader& reader, std::span<const JsonField> fields,
                           std::string_view key) {
  const JsonField* field = FindField(fields, key);
  if (field == nullptr) throw reader.Error(fmt::format("has no \"{}\"", key));
  if (field->kind != JsonField::Kind::kString && field->kind != JsonField::Kind::kInteger) {
    throw reader.Error(fmt::format("\"{}\" is {}; expected a string", key, KindName(field->kind)));
  }
  CheckId(reader, field->text, key);
  return field->text;
}

void CheckId(const LineReader& reader, std::string_view id, std::string_view key) {
  if (id.empty()) throw reader.Error(fmt::format("\"{}\" is empty", key));
  if (std::any_of(id.begin(), id.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
    throw reader.Error(fmt::format("\"{}\" contains a control character", key));
  }
}

std::string_view RequireText(const LineReader& reader, std::span<const JsonField> fields,
                             std::string_view key, std::string_view id) {
  const JsonField* field = FindField(fields, key);
  if (field == nullptr) throw reader.Error(fmt::format("has no \"{}\"", key), id);
  if (field->kind != JsonField::Kind::kString) {
    throw reader.Error(fmt::format("\"{}\" is {}; expected a string", key, KindName(field->kind)),
                       id);
  }
  return field->text;
}

DocumentText RequireDocumentText(const LineReader& reader, std::span<const JsonField> fields,
                                 std::string_view id, std::string* joined,
                                 std::string_view text_key) {
  const std::string_view text = RequireText(reader, fields, text_key, id);
  if (!IsGiven(FindField(fields, "title"))) return {text};
  return JoinTitle(RequireText(reader, fields, "title", id), text, joined);
}

DocumentText JoinTitle(std::string_view title, std::string_view text, std::string* joined) {
  if (title.empty()) return {text};
  joined->assign(title).append(" ").append(text);
  return {*joined, title.size()};
}

}  // namespace tandem::data
