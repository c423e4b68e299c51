#include "data/line_documents.h"

#include <fmt/format.h>

namespace tandem::data {

void AppendDocuments(const LineReader& reader, const JsonField& field, double grade,
                     std::vector<LineDocument>& documents) {
  std::string id = fmt::format("{}:{}", reader.line_number(), field.key);
  if (field.kind == JsonField::Kind::kString) {
    documents.push_back({field.text, std::move(id), grade});
  } else if (field.kind == JsonField::Kind::kStrings) {
    for (size_t i = 0; i < field.list.size(); ++i) {
      documents.push_back({field.list[i], fmt::format("{}:{}", id, i + 1), grade});
    }
  } else {
    throw reader.Error(fmt::format("\"{}\" is {}; expected a string or a list of strings",
                                   field.key, KindName(field.kind)));
  }
}

void JudgeLine(ExampleSink& sink, const LineReader& reader, std::string_view query,
               const std::vector<LineDocument>& documents) {
  const uint32_t q = sink.QueryOfText(query, fmt::format("{}", reader.line_number()));
  for (const LineDocument& document : documents) {
    sink.Judge(q, sink.DocumentOfText(document.text, document.id), document.grade, document.score);
  }
}

std::string_view RequireString(const LineReader& reader, const JsonField& field) {
  if (field.kind == JsonField::Kind::kString) return field.text;
  throw reader.Error(
      fmt::format("\"{}\" is {}; expected a string", field.key, KindName(field.kind)));
}

}  // namespace tandem::data
