// The text format of `tandem inspect`.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/inspection.h"

namespace tandem::app {
namespace {

using Json = nlohmann::ordered_json;

// A number with at most six digits; JSON output has all of them.
std::string Rounded(const Json& number) {
  constexpr size_t kShort = 8;  // "0.123456": what is no longer stays as it is
  std::string text = number.dump();
  return text.size() <= kShort ? text : fmt::format("{:.6g}", number.get<double>());
}

// Text for a terminal: no byte of a file may move its cursor.
std::string Printable(const Json& value) {
  const std::string text = value.is_string()         ? value.get<std::string>()
                           : value.is_number_float() ? Rounded(value)
                                                     : value.dump();
  std::string printable;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (c == '\n' || c == '\t') {
      printable += c == '\n' ? "\\n" : "\\t";  // prompts have several lines
    } else {
      printable += control ? '?' : c;
    }
  }
  return printable;
}

std::string Label(const std::string& key) {
  std::string label = key;
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

std::string Pairs(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", Label(Printable(key)), Printable(value));
  }
  return text;
}

constexpr size_t kLineWidth = 80;  // columns of a usual terminal

// Rows of objects, each column as wide as its widest cell, numbers to the right; above them the
// names of the columns, where there are more than two. A row may lack a column. A table whose lines
// are too long for a terminal and that has few rows is turned: a line for each column, with the
// values of all rows.
class Table {
 public:
  explicit Table(Json rows, bool turned = false) : rows_(std::move(rows)), turned_(turned) {
    for (const Json& row : rows_) {
      for (const auto& [key, value] : row.items()) {
        Column& column = ColumnOf(key);
        column.width = std::max(column.width, Printable(value).size());
        column.is_number &= value.is_number();
      }
    }
    has_names_ = columns_.size() > 2 && !turned_;
    for (Column& column : columns_) {
      if (has_names_) column.width = std::max(column.width, Label(Printable(column.key)).size());
    }
  }

  std::string Text() const {
    if (Width() > kLineWidth && !turned_ && rows_.size() < columns_.size()) {
      const Table turned(Turned(), true);
      if (turned.Width() < Width()) return turned.Text();
    }
    std::string text;
    if (has_names_) {
      text += Line([](const Column& column) { return Label(Printable(column.key)); });
    }
    for (const Json& row : rows_) {
      text += Line([&](const Column& column) {
        return row.contains(column.key) ? Printable(row[column.key]) : std::string();
      });
    }
    return text;
  }

 private:
  struct Column {
    std::string key;
    size_t width = 0;
    bool is_number = true;
  };

  Column& ColumnOf(const std::string& key) {
    for (Column& column : columns_) {
      if (column.key == key) return column;
    }
    return columns_.emplace_back(Column{key});
  }

  // A row for each column: its name, then its value in each row.
  Json Turned() const {
    Json turned = Json::array();
    for (const Column& column : columns_) {
      Json line = {{"name", Label(Printable(column.key))}};
      for (size_t i = 0; i < rows_.size(); ++i) {
        const bool has = rows_[i].contains(column.key);
        line[std::to_string(i)] = has ? Printable(rows_[i][column.key]) : std::string();
      }
      turned.push_back(std::move(line));
    }
    return turned;
  }

  // Names of several words need more room between them than single words.
  std::string_view Gap() const { return has_names_ || turned_ ? "  " : " "; }

  size_t Width() const {
    size_t width = 0;
    for (const Column& column : columns_) width += Gap().size() + column.width;
    return width;
  }

  template <typename Cell>
  std::string Line(const Cell& cell) const {
    std::string line;
    for (const Column& column : columns_) {
      line += line.empty() ? "  " : Gap();
      line += column.is_number ? fmt::format("{:>{}}", cell(column), column.width)
                               : fmt::format("{:<{}}", cell(column), column.width);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  }

  const Json rows_;
  const bool turned_;
  std::vector<Column> columns_;
  bool has_names_ = false;
};

std::string Words(const Json& list) {
  std::string text;
  for (const Json& word : list) text += (text.empty() ? "" : ", ") + Printable(word);
  return text;
}

// Columns for the labels: 20, or as many as the longest needs.
size_t LabelWidth(const Json& inspection) {
  size_t width = 20;
  for (const auto& [key, value] : inspection.items()) {
    if (!value.is_array() || value.empty()) width = std::max(width, key.size() + 1);
  }
  return width;
}

std::string AsText(const Json& inspection) {
  const size_t width = LabelWidth(inspection);
  std::string text;
  for (const auto& [key, value] : inspection.items()) {
    if (value.is_array()) {
      const bool rows = !value.empty() && value.front().is_object();
      text += rows ? fmt::format("{}\n{}", Label(key), Table(value).Text())
                   : fmt::format("{:<{}}{}\n", Label(key), width,
                                 value.empty() ? "none" : Words(value));
      continue;
    }
    const bool none = (value.is_string() || value.is_object()) && value.empty();
    const std::string shown = value.is_object() ? Pairs(value) : Printable(value);
    const bool no_text = none || shown.empty();
    text += fmt::format("{:<{}}{}\n", Label(key), width, no_text ? "none" : shown);
  }
  return text;
}

}  // namespace

void PrintInspection(const Json& inspection, std::string_view format) {
  std::cout << (format == "json"
                    ? inspection.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                    : AsText(inspection));
}

}  // namespace tandem::app
