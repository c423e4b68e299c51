// The building blocks of the sections of a report's page.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/figures/figure.h"
#include "report/page/html.h"
#include "report/page/page.h"

namespace tandem::report {

// A cell of a table of the page.
struct PageCell {
  std::string text;
  std::string note;                  // smaller, below it: an interval
  std::optional<double> sort_value;  // of numbers
  bool best = false;
  bool foreign = false;  // a text of a data set, or a name that somebody gave
};

struct PageColumn {
  std::string heading;
  bool numeric = false;
  bool matters = false;  // stays in sight where the table is wider than a small screen; one of them
};

struct PageTable {
  std::string caption;
  std::vector<PageColumn> columns;
  // The first cell of a row is its heading.
  std::vector<std::vector<PageCell>> rows;
  bool sortable = false;
};

// A number as a cell, "-" where there is none.
PageCell NumberCell(std::optional<double> value, int decimals = 4);
// 1234567 as "1,234,567".
std::string GroupedCount(int64_t count);
PageCell CountCell(int64_t count);
// "12.3 s", "4 min 05 s", "2 h 07 min".
std::string DurationText(double seconds);

// A sentence whose p stays on one line with its value ("p = 0.04", "p < 0.0001"), on a telephone
// too.
std::string WithPOnOneLine(std::string sentence);
PageCell TextCell(std::string text);     // this program's words
PageCell ForeignCell(std::string text);  // somebody else's

// The page under way: sections, their figures, and what they lack.
class Page {
 public:
  Html& html() { return html_; }
  const Html& html() const { return html_; }
  // A part of the page with a heading, which the contents link to.
  void Section(std::string_view id, std::string_view title, const Html::Content& content);
  void Subheading(std::string_view title) { html_.Element("h3", title); }
  void Paragraph(std::string_view text) { html_.Element("p", text); }
  // A paragraph that is read beside another thing.
  void Note(std::string_view text) { html_.Element("p", {{"class", "note"}}, text); }
  // Says here, and in the list at the page's end, what is not there.
  void Missing(const std::string& sentence);
  // Names of figures are made unique by a number after them.
  void AddFigure(Figure figure);
  // Figures beside each other where there is room.
  void Figures(const Html::Content& content);
  void AddTable(const PageTable& table);

  const std::vector<std::pair<std::string, std::string>>& contents() const { return contents_; }
  const std::vector<std::string>& missing() const { return missing_; }
  const std::vector<ReportFile>& files() const { return files_; }

 private:
  void AddNumbers(const Figure& figure);
  void AddCell(const PageCell& cell, const PageColumn& column, bool first);

  Html html_;
  std::vector<std::pair<std::string, std::string>> contents_;  // id, title
  std::vector<std::string> missing_;
  std::vector<ReportFile> files_;
  std::set<std::string> names_;
  int tables_ = 0;
};

// Evaluations on the same queries and documents, with the colours that they have in all figures.
struct EvaluationGroup {
  // "packages, split test"; where another group is called so too, with its numbers of queries and
  // documents. No other group is called so.
  std::string dataset;
  std::vector<const LabelledEvaluation*> evaluations;
  std::vector<size_t> colours;
};

// The colour of number i of so many that stand beside each other: the first is what the others are
// compared with, and grey; one that stands alone is not.
size_t ColourOf(size_t i, size_t of);

// Groups evaluations that may be compared (report/records/same_data.h), in the order in which they
// come.
std::vector<EvaluationGroup> GroupsOf(const ReportInput& input);

// A figure of histograms: an axis named `column`, shares of the sum above it, and the outline of
// one, which lets few positives and many negatives be laid over each other.
Figure HistogramFigure(std::string name, std::string title, std::string description,
                       std::string column);
std::vector<Point> HistogramOutline(const Histogram& histogram);

// Says of each two models of the group whose ROC curve lies above the other's, and where.
void AddRocDominance(const EvaluationGroup& group, Page& page);
// The histograms of all models of the group in one figure; none where fewer than two have any.
std::optional<Figure> ScoresTogether(const EvaluationGroup& group);

// Why an evaluation of documents by their passages has no thresholds, in words after a colon.
inline constexpr std::string_view kNoThresholdByDocument =
    "a threshold would count passages, and documents are ranked by the best of theirs; a corpus of "
    "whole documents, measured without --by-document, has thresholds";

// The sections, in the page's order. Each has its file.
void AddSummary(const ReportInput& input, Page& page);
void AddWhatWasRun(const ReportInput& input, Page& page);
void AddMeasures(const ReportInput& input, Page& page);
void AddTraining(const ReportInput& input, Page& page);
void AddDiscrimination(const ReportInput& input, Page& page);
void AddCalibration(const ReportInput& input, Page& page);
void AddViews(const ReportInput& input, Page& page);
void AddSampling(const ReportInput& input, Page& page);
void AddTimeAndMemory(const ReportInput& input, Page& page);
void AddQueries(const ReportInput& input, Page& page);
void AddWords(const ReportInput& input, Page& page);  // explains the words of those before it

// What stands around the sections of a page.
struct PageFrame {
  std::string title;
  std::string subtitle;
  std::string generator;  // the command: "tandem report"
  std::string footer;
};

// The whole document around the sections: head, contents, what is missing.
std::string PageDocument(const PageFrame& frame, const Page& page);
std::string PageDocument(const ReportInput& input, const Page& page);

}  // namespace tandem::report
