// Tables of questions and answers.
#include <algorithm>
#include <array>

#include "documents/masking.h"
#include "documents/pair_source.h"
#include "documents/passages/words.h"

namespace tandem::documents {
namespace {

// Headings of a column of questions: in English, German, French, Spanish, Italian and Portuguese.
constexpr std::string_view kQuestionHeadings[] = {"question", "questions", "q",       "faq",
                                                  "query",    "frage",     "fragen",  "pregunta",
                                                  "domanda",  "pergunta",  "problem", "preguntas"};

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return lower;
}

class Tables {
 public:
  Tables(const Document& document, const PairSink& found) : document_(document), found_(found) {}

  void Find() {
    for (size_t first = 0; first < document_.blocks.size();) {
      size_t end = first + 1;
      while (end < document_.blocks.size() && IsRow(end) &&
             document_.blocks[end].group == document_.blocks[first].group) {
        ++end;
      }
      if (IsRow(first)) InTable(first, end);
      first = end;
    }
  }

 private:
  bool IsRow(size_t block) const { return document_.blocks[block].kind == BlockKind::kTableRow; }

  std::string_view Cell(size_t row, size_t column) const {
    const std::vector<Span>& cells = document_.blocks[row].cells;
    return column < cells.size() ? document_.Of(cells[column]) : std::string_view();
  }

  // Whether the first column holds questions: its heading says so, or most of its cells do.
  bool HasQuestions(size_t first, size_t end) const {
    const std::string heading = LowerCase(Cell(first, 0));
    if (std::find(std::begin(kQuestionHeadings), std::end(kQuestionHeadings), heading) !=
        std::end(kQuestionHeadings)) {
      return true;
    }
    size_t rows = 0, questions = 0;
    for (size_t row = first; row < end; ++row) {
      if (document_.blocks[row].header) continue;
      ++rows;
      questions += Cell(row, 0).ends_with('?');
    }
    return 2 * questions > rows;
  }

  void InTable(size_t first, size_t end) {
    if (!HasQuestions(first, end)) return;
    const std::string heading = LowerCase(Cell(first, 0));
    for (size_t row = first; row < end; ++row) {
      const std::vector<Span>& cells = document_.blocks[row].cells;
      const bool names_columns =
          document_.blocks[row].header ||
          (row == first && !heading.ends_with('?') && WordCount(heading) == 1);
      if (names_columns || cells.size() < 2 || cells[0].empty()) continue;
      const std::string query(document_.Of(cells[0]));
      const size_t end_of_row = document_.blocks[row].span.end;
      const auto answer = std::find_if(cells.begin() + 1, cells.end(),
                                       [](const Span& cell) { return !cell.empty(); });
      const size_t begin = answer == cells.end() ? end_of_row : answer->begin;
      found_({.query = query, .text = MaskedText(document_, {begin, end_of_row}, "")});
    }
  }

  const Document& document_;
  const PairSink& found_;
};

void FindTables(const Document& document, const PairSink& found) { Tables(document, found).Find(); }

}  // namespace

extern const PairSource kFaqTable{
    {.name = "faq_table",
     .summary =
         "the first cell of a row, in a table whose first column holds questions -> the rest "
         "of the row",
     .source = "tables of questions and answers, as support teams keep them"},
    3,
    FindTables};

}  // namespace tandem::documents
