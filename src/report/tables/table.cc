#include "report/tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/json/json.h"
#include "base/overloaded.h"
#include "text/width/display_width.h"

namespace tandem::report {
namespace {

std::string KeyOf(const Column& column) {
  std::string key = column.key.empty() ? column.name : column.key;
  if (column.key.empty()) std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

std::string ShownNumber(const Column& column, double number) {
  return column.show != nullptr ? column.show(number) : Fixed(number, column.decimals);
}

std::string ShownInterval(const Column& column, const Interval& interval) {
  if (column.show == nullptr) return WithInterval(interval, column.decimals);
  return fmt::format("{} [{}, {}]", column.show(interval.value), column.show(interval.low),
                     column.show(interval.high));
}

ShownCell ShownAs(const Column& column, const Cell& cell) {
  return std::visit(
      Overloaded{[](std::monostate) { return ShownCell{std::string(kNoValue)}; },
                 [](const std::string& text) { return ShownCell{text::Printable(text)}; },
                 [](bool yes) { return ShownCell{yes ? "yes" : "no"}; },
                 [](int64_t number) {
                   return ShownCell{fmt::format("{}", number), true};
                 },
                 [&](double number) {
                   return ShownCell{ShownNumber(column, number), true};
                 },
                 [&](const Interval& interval) {
                   return ShownCell{ShownInterval(column, interval), true};
                 }},
      cell.value());
}

// Returns the number by which a cell is compared.
std::optional<double> NumberOf(const Cell& cell) {
  return std::visit(
      Overloaded{
          [](int64_t number) { return std::optional(static_cast<double>(number)); },
          [](double number) { return std::isnan(number) ? std::nullopt : std::optional(number); },
          [](const Interval& interval) { return std::optional(interval.value); },
          [](const auto& /*other*/) { return std::optional<double>(); }},
      cell.value());
}

// Marks the best of some cells of a table, and those that cannot be told from it as they are shown.
// One number alone is no best.
class BestMark {
 public:
  explicit BestMark(Best best) : best_(best) {}

  void Look(const Cell& cell, ShownCell& shown) {
    const std::optional<double> number = NumberOf(cell);
    if (!number) return;
    shown_.emplace_back(*number, &shown);
    if (best_ == Best::kLowest ? *number < top_ : *number > top_) top_ = *number;
    if (shown_.size() == 1) top_ = *number;
  }

  void Mark() const {
    if (best_ == Best::kNone || shown_.size() < 2) return;
    const auto value = [](const ShownCell& cell) {
      return cell.text.substr(0, cell.text.find(' '));
    };
    std::string top;
    for (const auto& [number, cell] : shown_) {
      if (number == top_) top = value(*cell);
    }
    for (const auto& [number, cell] : shown_) cell->is_best |= value(*cell) == top;
  }

 private:
  Best best_;
  double top_ = 0;
  std::vector<std::pair<double, ShownCell*>> shown_;
};

std::string TsvText(std::string_view text) {
  std::string field(text);
  std::replace_if(
      field.begin(), field.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return field;
}

std::string TsvFields(const Cell& cell, bool has_interval) {
  const std::string_view no_bounds = has_interval ? "\t-\t-" : "";
  const auto with_bounds = [&](std::string field) { return field.append(no_bounds); };
  return std::visit(
      Overloaded{[&](std::monostate) { return with_bounds(std::string(kNoValue)); },
                 [&](const std::string& text) { return with_bounds(TsvText(text)); },
                 [&](bool yes) { return with_bounds(yes ? "true" : "false"); },
                 [&](int64_t number) { return with_bounds(fmt::format("{}", number)); },
                 [&](double number) { return with_bounds(Exact(number)); },
                 [&](const Interval& interval) {
                   return fmt::format("{}\t{}\t{}", interval.value, interval.low, interval.high);
                 }},
      cell.value());
}

void AddJson(const std::string& key, const Cell& cell, bool has_interval, tandem::Json& row) {
  if (const auto* interval = std::get_if<Interval>(&cell.value())) {
    row[key] = JsonNumber(interval->value);
    row[key + "_low"] = JsonNumber(interval->low);
    row[key + "_high"] = JsonNumber(interval->high);
    return;
  }
  row[key] = std::visit(Overloaded{[](std::monostate) { return tandem::Json(); },
                                   [](double number) { return JsonNumber(number); },
                                   [](const Interval& /*above*/) { return tandem::Json(); },
                                   [](const auto& value) { return tandem::Json(value); }},
                        cell.value());
  if (!has_interval) return;
  row[key + "_low"] = tandem::Json();
  row[key + "_high"] = tandem::Json();
}

}  // namespace

Table::Table(std::vector<Column> columns, TableOptions options)
    : columns_(std::move(columns)), options_(options) {}

void Table::Add(std::vector<Cell> cells, Best best) {
  if (cells.size() > columns_.size()) {
    throw std::logic_error(
        fmt::format("a row of {} cells for a table of {} columns", cells.size(), columns_.size()));
  }
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), best});
}

std::vector<bool> Table::HaveIntervals() const {
  std::vector<bool> have(columns_.size());
  for (const Row& row : rows_) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (std::holds_alternative<Interval>(row.cells[c].value())) have[c] = true;
    }
  }
  return have;
}

std::vector<ShownColumn> Table::Shown() const {
  std::vector<ShownColumn> shown;
  for (size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    shown.push_back({.heading = text::Printable(column.name),
                     .least_width = column.least_width,
                     .when_long = column.when_long});
    for (const Row& row : rows_) shown.back().cells.push_back(ShownAs(column, row.cells[c]));
    BestMark mark(column.best);
    for (size_t r = 0; r < rows_.size(); ++r) mark.Look(rows_[r].cells[c], shown.back().cells[r]);
    mark.Mark();
  }
  for (size_t r = 0; r < rows_.size(); ++r) {
    BestMark mark(rows_[r].best);
    for (size_t c = 0; c < columns_.size(); ++c) mark.Look(rows_[r].cells[c], shown[c].cells[r]);
    mark.Mark();
  }
  return shown;
}

std::string Table::Text(const TextStyle& style) const {
  return LayOut(Shown(), {.columns = style.columns,
                          .bold = style.bold,
                          .heading = options_.heading,
                          .indent = options_.indent,
                          .gap = options_.gap});
}

std::string Table::Tsv() const {
  const std::vector<bool> has_interval = HaveIntervals();
  std::string text;
  const auto add = [&text](size_t column, const std::string& field) {
    if (column > 0) text += '\t';
    text += field;
  };
  for (size_t c = 0; options_.heading && c < columns_.size(); ++c) {
    const std::string key = KeyOf(columns_[c]);
    add(c, has_interval[c] ? fmt::format("{0}\t{0}_low\t{0}_high", key) : key);
  }
  if (options_.heading) text += '\n';
  for (const Row& row : rows_) {
    for (size_t c = 0; c < columns_.size(); ++c) add(c, TsvFields(row.cells[c], has_interval[c]));
    text += '\n';
  }
  return text;
}

tandem::Json Table::Json() const {
  const std::vector<bool> has_interval = HaveIntervals();
  auto list = tandem::Json::array();
  for (const Row& row : rows_) {
    auto object = tandem::Json::object();
    for (size_t c = 0; c < columns_.size(); ++c) {
      AddJson(KeyOf(columns_[c]), row.cells[c], has_interval[c], object);
    }
    list.push_back(std::move(object));
  }
  return list;
}

std::string Table::Format(std::string_view format, const TextStyle& style) const {
  if (format == "tsv") return Tsv();
  if (format == "json") return JsonText(Json());
  return Text(style);
}

std::string JsonText(const Json& json) { return json.Dump(2, JsonBytes::kReplace) + "\n"; }

}  // namespace tandem::report
