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

void AppendCopyText(std::string_view text, std::string_view id, std::string& out) {
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
        throw DataError("", 0, std::string(id),
                        "its id, text or a field has a zero byte, which PostgreSQL stores in no "
                        "text; remove the document, or take --to jsonl");
      default:
        out += c;
    }
  }
}

// "NAME" as an identifier of SQL.
std::string QuotedName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
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

void AppendCopyLine(const LiveDocument& document, const LineColumns& columns, std::string& out) {
  AppendCopyText(document.id, document.id, out);
  out += '\t';
  AppendVector(document.vector, out);
  if (columns.texts) {
    out += '\t';
    AppendCopyText(document.text, document.id, out);
  }
  for (size_t n = 0; n < columns.fields.size(); ++n) {
    const data::MetadataValue& value = document.metadata[n];
    out += '\t';
    if (!value.present) {
      out += "\\N";
    } else if (columns.fields[n].type == data::MetadataType::kNumber) {
      fmt::format_to(std::back_inserter(out), "{}", value.number);
    } else {
      AppendCopyText(value.text, document.id, out);
    }
  }
  out += '\n';
}

std::string CopyTableColumns(const LineColumns& columns, size_t width) {
  std::string described = fmt::format("id text PRIMARY KEY, embedding vector({})", width);
  if (columns.texts) described += ", text text";
  for (const data::MetadataField& field : columns.fields) {
    described +=
        fmt::format(", {} {}", QuotedName(field.name),
                    field.type == data::MetadataType::kNumber ? "double precision" : "text");
  }
  return described;
}

}  // namespace tandem::index
