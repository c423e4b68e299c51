// The text format of `tandem inspect`.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "app/inspection.h"

namespace tandem::app {
namespace {

using Json = nlohmann::ordered_json;

// Text for a terminal: no byte of a file may move its cursor.
std::string Printable(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
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

// Rows of objects with equal keys, each column as wide as its widest cell.
std::string Table(const Json& rows) {
  std::map<std::string, size_t> widths;
  for (const Json& row : rows) {
    for (const auto& [key, value] : row.items()) {
      size_t& width = widths[key];
      width = std::max(width, Printable(value).size());
    }
  }
  std::string text;
  for (const Json& row : rows) {
    std::string line = " ";
    for (const auto& [key, value] : row.items()) {
      line += fmt::format(" {:<{}}", Printable(value), widths[key]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string AsText(const Json& inspection) {
  std::string text;
  for (const auto& [key, value] : inspection.items()) {
    if (value.is_array()) {
      text += value.empty() ? fmt::format("{:<20}none\n", Label(key))
                            : fmt::format("{}\n{}", Label(key), Table(value));
      continue;
    }
    const bool none = (value.is_string() || value.is_object()) && value.empty();
    const std::string shown = value.is_object() ? Pairs(value) : Printable(value);
    const bool no_text = none || shown.empty();
    text += fmt::format("{:<20}{}\n", Label(key), no_text ? "none" : shown);
  }
  return text;
}

}  // namespace

void PrintInspection(const Json& inspection, std::string_view format) {
  std::cout << (format == "json" ? inspection.dump(2) + "\n" : AsText(inspection));
}

}  // namespace tandem::app
