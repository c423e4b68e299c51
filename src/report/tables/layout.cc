#include "report/tables/layout.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "report/tables/numbers.h"
#include "report/tables/one_line.h"
#include "text/width/display_width.h"

namespace tandem::report {
namespace {

// The start of the part of a number that stands after the decimal point's place: at the point, or
// after the digits of a whole number.
size_t PointOf(std::string_view number) {
  const size_t end = number.find_first_not_of("+-0123456789", number.starts_with("< ") ? 2 : 0);
  return end == std::string_view::npos ? number.size() : end;
}

bool HoldsNoText(const ShownCell& cell) {
  return cell.is_number || cell.text.empty() || cell.text == kNoValue;
}

bool IsNumeric(const ShownColumn& column) {
  return std::all_of(column.cells.begin(), column.cells.end(), HoldsNoText) &&
         std::any_of(column.cells.begin(), column.cells.end(),
                     [](const ShownCell& cell) { return cell.is_number; });
}

bool HasIntervals(const ShownColumn& column) {
  return std::any_of(column.cells.begin(), column.cells.end(), [](const ShownCell& cell) {
    return cell.text.find('[') != std::string::npos;
  });
}

// Appends blanks to numbers, so that aligned to the right they stand below each other by their
// decimal points. Powers of ten have no place in common: they stay as they are.
void AlignPoints(ShownColumn& column) {
  const auto has_power = [](const ShownCell& cell) {
    return cell.is_number && cell.text.find('e') != std::string::npos;
  };
  if (std::any_of(column.cells.begin(), column.cells.end(), has_power)) return;
  const auto behind = [](const ShownCell& cell) {
    return text::DisplayWidth(std::string_view(cell.text).substr(PointOf(cell.text)));
  };
  size_t most = 0;
  for (const ShownCell& cell : column.cells) {
    if (cell.is_number) most = std::max(most, behind(cell));
  }
  for (ShownCell& cell : column.cells) {
    if (cell.is_number) cell.text.append(most - behind(cell), ' ');
  }
}

class Grid {
 public:
  Grid(std::vector<ShownColumn> columns, const LayoutOptions& options)
      : columns_(std::move(columns)), options_(options) {
    for (ShownColumn& column : columns_) {
      is_numeric_.push_back(IsNumeric(column));
      has_intervals_.push_back(is_numeric_.back() && HasIntervals(column));
      if (is_numeric_.back()) AlignPoints(column);
      widths_.push_back(NaturalWidth(column));
    }
    least_ = widths_;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const bool may_shrink = !is_numeric_[c] && columns_[c].when_long != LongText::kKeep;
      if (may_shrink) least_[c] = std::min(widths_[c], kLeastTextColumns);
      floors_.push_back(is_numeric_[c] ? CellWidth(columns_[c]) : 1);
    }
  }

  size_t rows() const { return columns_.empty() ? 0 : columns_.front().cells.size(); }
  size_t Room() const {
    return options_.columns > options_.indent ? options_.columns - options_.indent : 0;
  }
  size_t WidthOf(const std::vector<size_t>& which, const std::vector<size_t>& widths) const {
    size_t width = which.empty() ? 0 : options_.gap * (which.size() - 1);
    for (const size_t c : which) width += widths[c];
    return width;
  }
  std::vector<size_t> All() const {
    std::vector<size_t> all(columns_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }
  bool Fits() const { return WidthOf(All(), widths_) <= Room(); }
  bool FitsCut() const { return WidthOf(All(), least_) <= Room(); }

  // Its lines, with texts as short as it takes.
  std::string Lines(const std::vector<size_t>& which) const {
    const std::vector<size_t> widths = WidthsFor(which);
    std::string text;
    if (options_.heading) {
      text += Row(which, widths, [this](size_t c) { return HeadingOf(c); });
    }
    for (size_t r = 0; r < rows(); ++r) {
      text += Row(which, widths, [this, r](size_t c) { return columns_[c].cells[r]; });
    }
    return text;
  }

  // The columns as several tables, each with the first column.
  std::string Blocks() const {
    std::string text;
    std::vector<size_t> block = {0};
    for (size_t c = 1; c < columns_.size(); ++c) {
      block.push_back(c);
      if (block.size() > 2 && WidthOf(block, least_) > Room()) {
        block.pop_back();
        text += Lines(block) + "\n";
        block = {0, c};
      }
    }
    return text + Lines(block);
  }

  // A row for each column: its heading, then its value in each row.
  Grid Turned() const {
    std::vector<ShownColumn> turned(1);
    for (const ShownColumn& column : columns_) turned.front().cells.push_back({column.heading});
    for (size_t r = 0; r < rows(); ++r) {
      ShownColumn& values = turned.emplace_back();
      for (const ShownColumn& column : columns_) {
        ShownCell cell = column.cells[r];
        cell.text.erase(cell.text.find_last_not_of(' ') + 1);
        values.cells.push_back(std::move(cell));
        values.when_long = std::max(values.when_long, column.when_long);
      }
    }
    LayoutOptions options = options_;
    options.heading = false;
    return {std::move(turned), options};
  }

 private:
  // Above intervals it stands at the left, where the values are.
  ShownCell HeadingOf(size_t column) const {
    std::string heading = columns_[column].heading;
    const size_t width = text::DisplayWidth(heading);
    if (has_intervals_[column]) heading.append(std::max(width, widths_[column]) - width, ' ');
    return {std::move(heading)};
  }

  static size_t CellWidth(const ShownColumn& column) {
    size_t width = 1;
    for (const ShownCell& cell : column.cells)
      width = std::max(width, text::DisplayWidth(cell.text));
    return width;
  }
  size_t NaturalWidth(const ShownColumn& column) const {
    const size_t heading = options_.heading ? text::DisplayWidth(column.heading) : 0;
    return std::max({column.least_width, heading, CellWidth(column)});
  }

  // Takes columns of the terminal from the widest texts and headings until the line fits.
  std::vector<size_t> WidthsFor(const std::vector<size_t>& which) const {
    std::vector<size_t> widths = widths_;
    while (WidthOf(which, widths) > Room()) {
      size_t widest = columns_.size();
      for (const size_t c : which) {
        const bool can_shrink = widths[c] > floors_[c];
        if (can_shrink && (widest == columns_.size() || widths[c] > widths[widest])) widest = c;
      }
      if (widest == columns_.size()) break;
      --widths[widest];
    }
    return widths;
  }

  std::vector<std::string> LinesOf(const ShownCell& cell, size_t column, size_t width) const {
    if (text::DisplayWidth(cell.text) <= width) return {cell.text};
    if (!cell.is_number && columns_[column].when_long != LongText::kCut) {
      return WrappedLines(cell.text, width);
    }
    return {cell.is_number ? cell.text : text::CutToWidth(cell.text, width)};
  }

  template <typename CellOf>
  std::string Row(const std::vector<size_t>& which, const std::vector<size_t>& widths,
                  const CellOf& cell_of) const {
    std::vector<ShownCell> cells;
    std::vector<std::vector<std::string>> lines;
    size_t height = 1;
    for (const size_t c : which) {
      cells.push_back(cell_of(c));
      lines.push_back(LinesOf(cells.back(), c, widths[c]));
      height = std::max(height, lines.back().size());
    }
    std::string text;
    for (size_t line = 0; line < height; ++line) {
      std::string printed(options_.indent, ' ');
      for (size_t i = 0; i < which.size(); ++i) {
        if (i > 0) printed.append(options_.gap, ' ');
        const std::string part = line < lines[i].size() ? lines[i][line] : std::string();
        AppendPart(part, widths[which[i]], is_numeric_[which[i]], cells[i].is_best, printed);
      }
      printed.erase(printed.find_last_not_of(' ') + 1);
      text += printed + "\n";
    }
    return text;
  }

  void AppendPart(const std::string& part, size_t width, bool to_the_right, bool is_best,
                  std::string& line) const {
    const size_t taken = text::DisplayWidth(part);
    const size_t blanks = width > taken ? width - taken : 0;
    const bool bold = is_best && options_.bold && taken > 0;
    if (to_the_right) line.append(blanks, ' ');
    line.append(bold ? "\033[1m" : "").append(part).append(bold ? "\033[0m" : "");
    if (!to_the_right) line.append(blanks, ' ');
  }

  std::vector<ShownColumn> columns_;
  LayoutOptions options_;
  std::vector<bool> is_numeric_;
  std::vector<bool> has_intervals_;
  std::vector<size_t> widths_;  // that leave every text whole
  std::vector<size_t> least_;   // with texts as short as is sensible
  std::vector<size_t> floors_;  // of numbers, and what a text or heading has at least
};

}  // namespace

std::string LayOut(std::vector<ShownColumn> columns, const LayoutOptions& options) {
  if (columns.empty()) return "";
  const Grid grid(std::move(columns), options);
  if (grid.Fits() || grid.FitsCut()) return grid.Lines(grid.All());
  if (grid.rows() < grid.All().size()) {
    const Grid turned = grid.Turned();
    if (turned.FitsCut()) return turned.Lines(turned.All());
  }
  return grid.Blocks();
}

}  // namespace tandem::report
