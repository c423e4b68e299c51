#include "report/page/page_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/figures/figure_svg.h"
#include "report/records/same_data.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

// Rows of a figure's numbers that the page shows; its TSV file has all.
constexpr size_t kMostRows = 60;

// Picks at most `most` of the numbers 0 to n - 1, evenly spread, the first and the last among them.
std::vector<size_t> Spread(size_t n, size_t most) {
  std::vector<size_t> chosen;
  if (n <= most) {
    for (size_t i = 0; i < n; ++i) chosen.push_back(i);
    return chosen;
  }
  for (size_t i = 0; i < most; ++i) chosen.push_back(i * (n - 1) / (most - 1));
  return chosen;
}

// Says whether a place on the x axis has values to show: bars, clouds of dots and lines that are
// too many for a list have none.
std::string KindOf(const Figure& figure) {
  constexpr size_t kMostListed = 12;
  if (figure.series.size() > kMostListed) return "still";
  for (const Series& series : figure.series) {
    if (series.mark == Mark::kBars || series.mark == Mark::kPoints || series.mark == Mark::kCells) {
      return "still";
    }
  }
  return "live";
}

std::string ClassOf(const PageColumn& column) {
  return std::string(column.numeric ? "number" : "word") + (column.matters ? " matters" : "");
}

std::string WithSpaces(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// Returns true for the same data as each of the group, because a record without ids of queries is
// like several that are not like each other.
bool IsOfGroup(const LabelledEvaluation& one, const EvaluationGroup& group) {
  return std::all_of(
      group.evaluations.begin(), group.evaluations.end(),
      [&](const LabelledEvaluation* of) { return SameData(of->record, one.record); });
}

const DatasetFacts& DatasetOf(const EvaluationGroup& group) {
  return group.evaluations.front()->record.dataset;
}

void NameGroups(std::vector<EvaluationGroup>& groups) {
  std::map<std::string, int> named;  // how often
  for (const EvaluationGroup& group : groups) ++named[DataName(DatasetOf(group))];
  std::map<std::string, int> told;
  for (EvaluationGroup& group : groups) {
    group.dataset = DataName(DatasetOf(group));
    if (named[group.dataset] == 1) continue;
    group.dataset = DataWords(DatasetOf(group));
    const int number = ++told[group.dataset];
    if (number > 1) group.dataset += fmt::format(", other data ({})", number);
  }
}

}  // namespace

PageCell NumberCell(std::optional<double> value, int decimals) {
  return {.text = Fixed(value, decimals), .sort_value = value};
}

PageCell CountCell(int64_t count) {
  return {.text = GroupedCount(count), .sort_value = static_cast<double>(count)};
}

PageCell TextCell(std::string text) { return {.text = std::move(text)}; }

PageCell ForeignCell(std::string text) { return {.text = std::move(text), .foreign = true}; }

std::string GroupedCount(int64_t count) {
  std::string digits = fmt::format("{}", count);
  for (size_t i = digits.size(); i > (count < 0 ? 4U : 3U); i -= 3) digits.insert(i - 3, ",");
  return digits;
}

void Page::Section(std::string_view id, std::string_view title, const Html::Content& content) {
  contents_.emplace_back(id, title);
  const std::string heading = fmt::format("{}-heading", id);
  html_.In("section", {{"id", std::string(id)}, {"aria-labelledby", heading}}, [&] {
    html_.Element("h2", {{"id", heading}}, title);
    content();
  });
  html_.Break();
}

void Page::Missing(const std::string& sentence) {
  missing_.push_back(sentence);
  html_.Element("p", {{"class", "missing"}}, sentence);
}

void Page::Figures(const Html::Content& content) {
  html_.In("div", {{"class", "figures"}}, content);
}

void Page::AddFigure(Figure figure) {
  const std::string base = figure.name;
  for (int i = 2; !names_.insert(figure.name).second; ++i) {
    figure.name = fmt::format("{}-{}", base, i);
  }
  const std::string path = "figures/" + figure.name;
  files_.push_back({path + ".tsv", FigureTsv(figure)});
  files_.push_back({path + ".svg", SvgFile(figure)});
  html_.In("figure", {{"id", "figure-" + figure.name}, {"class", KindOf(figure)}}, [&] {
    html_.In("figcaption", [&] {
      html_.Element("strong", figure.title);
      html_.Element("span", figure.description);
    });
    html_.Add(InlineSvg(figure));
    if (!figure.note.empty()) html_.Element("p", {{"class", "note"}}, figure.note);
    AddNumbers(figure);
  });
  html_.Break();
}

void Page::AddNumbers(const Figure& figure) {
  const std::vector<std::vector<std::string>> rows = FigureRows(figure);
  const std::vector<size_t> chosen = Spread(rows.size(), kMostRows);
  html_.In("details", {{"class", "numbers"}}, [&] {
    html_.Element("summary", "Numbers");
    const std::string path = "figures/" + figure.name;
    html_.In("p", {{"class", "note"}}, [&] {
      if (chosen.size() < rows.size()) {
        html_.Text(fmt::format("{} of {} rows, evenly spread. All are in ", chosen.size(),
                               GroupedCount(static_cast<int64_t>(rows.size()))));
      } else {
        html_.Text("The same numbers are in ");
      }
      html_.Element("a", {{"href", path + ".tsv"}}, path + ".tsv");
      html_.Text(", the figure in ");
      html_.Element("a", {{"href", path + ".svg"}}, path + ".svg");
      html_.Text(", beside this page.");
    });
    PageTable table{.caption = figure.title};
    const bool named = !figure.categories.empty();
    const std::vector<std::string> columns = FigureColumns(figure);
    table.columns = {
        {columns[0]}, {WithSpaces(columns[1]), true}, {WithSpaces(columns[2]), !named}};
    for (size_t i = 3; i < columns.size(); ++i) table.columns.push_back({columns[i], true});
    for (const size_t i : chosen) {
      std::vector<PageCell>& row = table.rows.emplace_back();
      row.push_back(ForeignCell(rows[i][0]));
      row.push_back(TextCell(rows[i][1]));
      row.push_back(named ? ForeignCell(rows[i][2]) : TextCell(rows[i][2]));
      for (size_t j = 3; j < rows[i].size(); ++j) row.push_back(TextCell(rows[i][j]));
    }
    AddTable(table);
  });
}

// A box of its own that scrolls where the table is wider than the page; the keyboard reaches it.
void Page::AddTable(const PageTable& table) {
  const std::string caption = fmt::format("table-{}", ++tables_);
  html_.In(
      "div",
      {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-labelledby", caption}},
      [&] {
        html_.In("table", {{"class", table.sortable ? "sortable" : "plain"}}, [&] {
          html_.Element("caption", {{"id", caption}}, table.caption);
          html_.In("thead", [&] {
            html_.In("tr", [&] {
              for (const PageColumn& column : table.columns) {
                html_.Element("th", {{"scope", "col"}, {"class", ClassOf(column)}}, column.heading);
              }
            });
          });
          html_.In("tbody", [&] {
            for (const std::vector<PageCell>& row : table.rows) {
              html_.In("tr", [&] {
                for (size_t i = 0; i < row.size(); ++i) {
                  AddCell(row[i], table.columns[i], i == 0);
                }
              });
            }
          });
        });
      });
  html_.Break();
}

void Page::AddCell(const PageCell& cell, const PageColumn& column, bool first) {
  const auto content = [&] {
    if (cell.foreign) {
      html_.Foreign(cell.text);
    } else if (cell.best) {
      html_.Element("strong", cell.text);
    } else {
      html_.Text(cell.text);
    }
    if (!cell.note.empty()) html_.Element("small", cell.note);
  };
  const std::string kind = ClassOf(column);
  if (first) {
    html_.In("th", {{"scope", "row"}, {"class", kind}}, content);
  } else if (cell.sort_value && std::isfinite(*cell.sort_value)) {
    html_.In("td", {{"class", kind}, {"data-value", Exact(cell.sort_value)}}, content);
  } else {
    html_.In("td", {{"class", kind}}, content);
  }
}

size_t ColourOf(size_t i, size_t of) { return of == 1 ? 1 : i; }

std::vector<EvaluationGroup> GroupsOf(const ReportInput& input) {
  std::vector<EvaluationGroup> groups;
  for (const LabelledEvaluation& one : input.evaluations) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const EvaluationGroup& g) { return IsOfGroup(one, g); });
    if (group == groups.end()) group = groups.insert(groups.end(), EvaluationGroup{});
    group->evaluations.push_back(&one);
  }
  NameGroups(groups);
  for (EvaluationGroup& group : groups) {
    for (size_t i = 0; i < group.evaluations.size(); ++i) {
      group.colours.push_back(ColourOf(i, group.evaluations.size()));
    }
  }
  return groups;
}

}  // namespace tandem::report
