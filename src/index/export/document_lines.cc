#include "index/export/document_lines.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "base/error.h"
#include "base/json/json.h"

namespace tandem::index {
namespace {

void AppendVector(std::span<const float> vector, std::string& out) {
  out += '[';
  for (const float value : vector) fmt::format_to(std::back_inserter(out), "{},", value);
  if (!vector.empty()) out.pop_back();
  out += ']';
}

void AppendCopyText(std::string_view text, std::string_view id, std::string_view index,
                    std::string& out) {
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\v':
        out += "\\v";
        break;
      case '\0':
        throw DataError(index, 0, std::string(id),
                        "its id, text or a field has a zero byte, which PostgreSQL stores in no "
                        "text; remove the document, or take --to jsonl");
      default:
        out += c;
    }
  }
}

// `text` between quotes as SQL and psql have them: each inside stands twice.
std::string Quoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) quoted.append(c == quote ? 2 : 1, c);
  return quoted + quote;
}

}  // namespace

void CheckColumns(const LineColumns& columns) {
  for (const data::MetadataField& field : columns.fields) {
    if (field.name != "id" && field.name != "embedding" && !(columns.texts && field.name == "text"))
      continue;
    throw UsageError(
        fmt::format("the index has a field called {}, as another column is{}", field.name,
                    field.name == "text" ? "; leave --with-texts out"
                                         : "; such an index is exported --to faiss alone"));
  }
}

void AppendJsonLine(const LiveDocument& document, const LineColumns& columns, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{{\"id\":{},\"embedding\":", Json(document.id).Dump());
  AppendVector(document.vector, out);
  if (columns.texts) {
    fmt::format_to(std::back_inserter(out), ",\"text\":{}", Json(document.text).Dump());
  }
  for (size_t n = 0; n < columns.fields.size(); ++n) {
    const data::MetadataField& field = columns.fields[n];
    const data::MetadataValue& value = document.metadata[n];
    fmt::format_to(std::back_inserter(out), ",{}:", Json(field.name).Dump());
    if (!value.present) {
      out += "null";
    } else if (field.type == data::MetadataType::kNumber) {
      fmt::format_to(std::back_inserter(out), "{}", value.number);
    } else {
      out += Json(value.text).Dump();
    }
  }
  out += "}\n";
}

void AppendCopyLine(const LiveDocument& document, const LineColumns& columns,
                    std::string_view index, std::string& out) {
  AppendCopyText(document.id, document.id, index, out);
  out += '\t';
  AppendVector(document.vector, out);
  if (columns.texts) {
    out += '\t';
    AppendCopyText(document.text, document.id, index, out);
  }
  for (size_t n = 0; n < columns.fields.size(); ++n) {
    const data::MetadataValue& value = document.metadata[n];
    out += '\t';
    if (!value.present) {
      out += "\\N";
    } else if (columns.fields[n].type == data::MetadataType::kNumber) {
      fmt::format_to(std::back_inserter(out), "{}", value.number);
    } else {
      AppendCopyText(value.text, document.id, index, out);
    }
  }
  out += '\n';
}

std::string CopyTableColumns(const LineColumns& columns, size_t width) {
  std::string described = fmt::format("id text PRIMARY KEY, embedding vector({})", width);
  if (columns.texts) described += ", text text";
  for (const data::MetadataField& field : columns.fields) {
    described +=
        fmt::format(", {} {}", Quoted(field.name, '"'),
                    field.type == data::MetadataType::kNumber ? "double precision" : "text");
  }
  return described;
}

std::string CopyFromFile(std::string_view file) {
  return fmt::format("\\copy documents FROM {} (ENCODING utf8)", Quoted(file, '\''));
}

}  // namespace tandem::index
