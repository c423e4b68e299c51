// A table of typed columns, printed as text for a terminal, as TSV or as JSON from the same rows.
//
//   report::Table table({{.name = "system"}, {.name = "ndcg@10", .best = report::Best::kHighest}});
//   table.Add({"bm25", 0.6789});
//   table.Add({"ours", report::Interval{0.7431, 0.7102, 0.7760}});
//   std::cout << table.Format(options.format, OutputStyle());  // cli/output_style.h
//
// Text: report/tables/layout.h says how it is made to fit. TSV: a line of keys, then one of values
// for each row; numbers unrounded, "-" for what does not exist, tabs and line ends in texts as
// spaces. JSON: a list of objects; null for what does not exist and for numbers that are not
// finite. An interval has three keys there: KEY, KEY_low and KEY_high.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "report/tables/layout.h"
#include "report/tables/numbers.h"

namespace tandem::report {

// A value, or none.
class Cell {
 public:
  using Value = std::variant<std::monostate, std::string, bool, int64_t, double, Interval>;

  Cell() = default;
  Cell(std::nullopt_t /*none*/) {}
  Cell(const char* text) : value_(std::string(text)) {}
  Cell(std::string_view text) : value_(std::string(text)) {}
  Cell(std::string text) : value_(std::move(text)) {}
  Cell(Interval interval) : value_(interval) {}
  Cell(std::floating_point auto number) : value_(static_cast<double>(number)) {}
  Cell(std::same_as<bool> auto yes) : value_(yes) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Cell(Integer number)
      : value_(static_cast<int64_t>(number)) {}
  template <typename T>
  Cell(const std::optional<T>& value) {
    if (value) *this = Cell(*value);
  }

  const Value& value() const { return value_; }

 private:
  Value value_;
};

// Says which value of a column or row is printed in bold, with those that look the same.
enum class Best { kNone, kHighest, kLowest };

struct Column {
  std::string name = "";                  // heading
  std::string key = "";                   // in TSV and JSON; "": the name with "_" for blanks
  int decimals = kMeasureDecimals;        // of numbers with a fraction
  std::string (*show)(double) = nullptr;  // their text, in place of the decimals
  Best best = Best::kNone;
  size_t least_width = 0;
  LongText when_long = LongText::kCut;
};

// Says how text is printed; a program asks its terminal.
struct TextStyle {
  size_t columns = 80;
  bool bold = false;
};

struct TableOptions {
  bool heading = true;  // of text and TSV
  size_t indent = 0;    // of text
  size_t gap = 2;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns, TableOptions options = {});

  // A row has a cell for each column; those that lack at its end are none. `best`: which number of
  // the row is printed in bold, for tables whose columns compare. Throws std::logic_error for a row
  // of more cells than columns.
  void Add(std::vector<Cell> cells, Best best = Best::kNone);

  size_t size() const { return rows_.size(); }
  const std::vector<Column>& columns() const { return columns_; }

  std::string Text(const TextStyle& style) const;
  std::string Tsv() const;
  tandem::Json Json() const;
  // `format` is text, tsv or json.
  std::string Format(std::string_view format, const TextStyle& style) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    Best best = Best::kNone;
  };

  // Says for each column whether one of its cells is an interval.
  std::vector<bool> HaveIntervals() const;
  std::vector<ShownColumn> Shown() const;

  std::vector<Column> columns_;
  TableOptions options_;
  std::vector<Row> rows_;
};

// JSON as the program prints it: indented by two blanks, bytes that are no UTF-8 as U+FFFD, "\n" at
// its end.
std::string JsonText(const Json& json);

}  // namespace tandem::report
