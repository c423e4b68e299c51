// Prints the text format of `tandem inspect`.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "cli/output_style.h"
#include "commands/inspect/inspection.h"
#include "report/tables/table.h"
#include "text/width/display_width.h"

namespace tandem::app {
namespace {

std::string Dump(const Json& value) { return value.Dump(-1, JsonBytes::kReplace); }

// Returns a number with at most six digits; JSON output has all of them.
std::string Rounded(double number) {
  constexpr size_t kShort = 8;  // "0.123456"; numbers up to this length are not rounded
  std::string text = Json(number).Dump();
  return text.size() <= kShort ? text : fmt::format("{:.6g}", number);
}

// Returns a value as text for a terminal, without bytes of a file that could move the cursor.
std::string Shown(const Json& value) {
  if (value.is_number_float()) return Rounded(value.get<double>());
  return text::Printable(value.is_string() ? value.get<std::string>() : Dump(value));
}

std::string Label(const std::string& key) {
  std::string label = key;
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

// Returns "key value" for each member of an object, or the values of a list.
std::vector<std::string> Parts(const Json& values) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : values.items()) {
    parts.push_back(fmt::format("{} {}", text::Printable(Label(key)), Shown(value)));
  }
  for (const Json& value : values) parts.push_back(Shown(value));
  return parts;
}

report::Cell CellOf(const Json& value) {
  if (value.is_number_float()) return value.get<double>();
  if (value.is_number_integer()) return value.get<int64_t>();
  return value.is_string() ? value.get<std::string>() : Dump(value);
}

// Makes a table of objects: a row for each, a column for each key. A row may lack a key. The names
// of the columns are shown if there are more than two.
report::Table TableOf(const Json& rows) {
  std::vector<std::string> keys;
  for (const Json& row : rows) {
    for (const auto& [key, value] : row.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  std::vector<report::Column> columns;
  for (const std::string& key : keys) {
    columns.push_back({.name = Label(key), .show = Rounded, .when_long = report::LongText::kKeep});
  }
  // Names of several words need more room between them than single words.
  const bool heading = keys.size() > 2;
  report::Table table(std::move(columns),
                      {.heading = heading, .indent = 2, .gap = heading ? 2U : 1U});
  for (const Json& row : rows) {
    std::vector<report::Cell> cells;
    for (const std::string& key : keys) {
      cells.push_back(row.contains(key) ? CellOf(row[key]) : report::Cell(""));
    }
    table.Add(std::move(cells));
  }
  return table;
}

// Returns the width of the labels: 20 columns, or as many as the longest needs.
size_t LabelWidth(const Json& inspection) {
  size_t width = 20;
  for (const auto& [key, value] : inspection.items()) {
    if (!value.is_array() || value.empty()) width = std::max(width, key.size() + 1);
  }
  return width;
}

// Formats `label` in `width` columns, and then the value. If several values are longer than a line,
// the rest goes on the next lines, each value whole, because the blanks in a prompt matter.
std::string LabelledLine(const std::string& label, const Json& value, size_t width,
                         size_t columns) {
  const std::vector<std::string> parts =
      value.is_array() || value.is_object() ? Parts(value) : std::vector{Shown(value)};
  std::string text = fmt::format("{:<{}}", label, width);
  size_t taken = width;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const size_t wanted = text::DisplayWidth(parts[i]) + (last ? 0 : 1);  // with its comma
    if (i > 0 && taken + 1 + wanted > columns) {
      text += "\n" + std::string(width, ' ');
      taken = width;
    } else if (i > 0) {
      text += ' ';
      ++taken;
    }
    text.append(parts[i]).append(last ? "" : ",");
    taken += wanted;
  }
  const bool none = parts.empty() || (parts.size() == 1 && parts.front().empty());
  return text.append(none ? "none" : "") + "\n";
}

std::string AsText(const Json& inspection, const report::TextStyle& style) {
  const size_t width = LabelWidth(inspection);
  std::string text;
  for (const auto& [key, value] : inspection.items()) {
    const bool is_table = value.is_array() && !value.empty() && value.front().is_object();
    text += is_table ? fmt::format("{}\n{}", Label(key), TableOf(value).Text(style))
                     : LabelledLine(Label(key), value, width, style.columns);
  }
  return text;
}

}  // namespace

void PrintInspection(const Json& inspection, std::string_view format) {
  std::cout << (format == "json" ? report::JsonText(inspection)
                                 : AsText(inspection, OutputStyle()));
}

}  // namespace tandem::app
