#include "data/lines/line_documents.h"

#include <fmt/format.h>

#include <cmath>

#include "data/texts/empty_text.h"

namespace tandem::data {
namespace {

using Kind = JsonField::Kind;

[[noreturn]] void ThrowNoTexts(const LineReader& reader, const JsonField& field,
                               std::string_view found) {
  throw reader.Error(
      fmt::format("\"{}\" is {}; expected a string or a list of strings", field.key, found));
}

}  // namespace

void AppendDocuments(const LineReader& reader, const JsonField& field, double grade,
                     std::vector<LineDocument>& documents) {
  const std::string id = fmt::format("{}:{}", reader.line_number(), field.key);
  const auto add = [&](std::string_view text, size_t place, bool is_null) {
    documents.push_back({.text = text,
                         .id = place == 0 ? id : fmt::format("{}:{}", id, place),
                         .key = field.key,
                         .grade = grade,
                         .is_null = is_null});
  };
  if (field.kind == Kind::kString) {
    add(field.text, 0, false);
  } else if (field.kind == Kind::kNull) {
    add({}, 0, true);
  } else if (field.kind == Kind::kStrings) {
    for (size_t i = 0; i < field.list.size(); ++i) add(field.list[i], i + 1, false);
  } else if (field.kind == Kind::kValues) {
    for (size_t i = 0; i < field.values.size(); ++i) {
      const JsonField& value = field.values[i];
      const bool is_null = value.kind == Kind::kNull;
      if (!is_null && value.kind != Kind::kString) {
        ThrowNoTexts(reader, field, fmt::format("a list with {}", KindName(value.kind)));
      }
      add(value.text, i + 1, is_null);
    }
  } else {
    ThrowNoTexts(reader, field, KindName(field.kind));
  }
}

void DropMissing(ExampleSink& sink, const LineReader& reader, const LineScores* scores,
                 std::vector<LineDocument>& documents) {
  const bool open = scores != nullptr && scores->open;
  std::erase_if(documents, [&](const LineDocument& document) {
    const bool is_negative = open ? document.score == 0 : document.grade == 0;
    if (is_negative && (document.is_null || IsEmptyText(document.text))) {
      sink.CountSkipped();
      return true;
    }
    if (document.is_null) {
      throw reader.Error(
          fmt::format("\"{}\" has null for a positive; expected a text", document.key));
    }
    if (scores != nullptr && std::isnan(document.score)) {
      throw reader.Error(
          fmt::format("\"{}\" has no number for a document of \"{}\"", scores->key, document.key));
    }
    return false;
  });
}

void JudgeLine(ExampleSink& sink, const LineReader& reader, std::string_view query, uint64_t apart,
               const std::vector<LineDocument>& documents) {
  const uint32_t q = sink.QueryOfText(query, fmt::format("{}", reader.line_number()), apart);
  for (const LineDocument& document : documents) {
    sink.Judge(q, sink.DocumentOfText(document.text, document.id, 0), document.grade,
               document.score);
  }
}

std::string_view RequireString(const LineReader& reader, const JsonField& field) {
  if (field.kind == JsonField::Kind::kString) return field.text;
  throw reader.Error(
      fmt::format("\"{}\" is {}; expected a string", field.key, KindName(field.kind)));
}

}  // namespace tandem::data
