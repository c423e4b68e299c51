#include "commands/search/hits_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/tables/one_line.h"
#include "text/width/display_width.h"

namespace tandem::app {
namespace {

constexpr size_t kLeastTextColumns = 30;  // with fewer, the text is on a line of its own
constexpr size_t kTextIndent = 6;         // of such a line, after the rank
constexpr std::string_view kMark = "» ";  // before a passage
constexpr size_t kMarkColumns = 2;

std::string ProbabilityOf(const ShownHit& hit) {
  return hit.probability ? fmt::format("  {:.4f}", *hit.probability) : std::string();
}

// The columns of a hit's parts, the same for all hits of a query.
struct HitColumns {
  HitColumns(std::span<const ShownHit> hits, size_t columns) {
    rank = std::max<size_t>(4, fmt::formatted_size("{}", hits.size()));
    for (const ShownHit& hit : hits) {
      score = std::max(score, fmt::formatted_size("{:.4f}", hit.score));
      id = std::max(id, text::DisplayWidth(hit.shown_id()));
      probability = std::max(probability, ProbabilityOf(hit).size());
    }
    const size_t text_column = rank + 2 + score + probability + 2 + id + 2;
    beside = text_column + kLeastTextColumns <= columns;
    text = beside ? columns - text_column : std::max(kLeastTextColumns, columns - kTextIndent);
    passage = std::max(kLeastTextColumns, columns - std::min(columns, kTextIndent + kMarkColumns));
  }

  size_t rank = 0, score = 0, probability = 0, id = 0, text = 0, passage = 0;
  bool beside = false;  // whether texts are on the line of the ids
};

std::string Bold(const std::string& text, bool bold) {
  return bold ? fmt::format("\033[1m{}\033[0m", text) : text;
}

bool IsBlank(std::string_view text) { return report::OneLine(text, 1).empty(); }

// The texts of a hit, which are shown after its id or below it.
struct HitTexts {
  std::string text;                   // one line; "": none
  bool is_passage = false;            // whether `text` is the passage
  std::vector<std::string> passages;  // lines of the passage, shown below
};

HitTexts TextsOf(const ShownHit& hit, const HitColumns& columns) {
  HitTexts texts{.text = report::OneLine(hit.text, columns.text)};
  if (!hit.highlight) return texts;
  const auto [begin, end] = *hit.highlight;
  const std::string_view passage = hit.text.substr(begin, end - begin);
  const bool starts = IsBlank(hit.text.substr(0, begin));
  const bool ends = IsBlank(hit.text.substr(end));
  texts.is_passage = starts && ends && report::WrappedLines(passage, columns.text).size() == 1;
  if (texts.is_passage) return texts;
  texts.passages = report::WrappedLines(passage, columns.passage);
  if (starts) texts.text.clear();
  return texts;
}

}  // namespace

std::string HitsText(std::span<const ShownHit> hits, const report::TextStyle& style) {
  const HitColumns columns(hits, style.columns);
  std::string lines;
  size_t rank = 0;
  for (const ShownHit& hit : hits) {
    lines += fmt::format("{:>{}}  {:>{}.4f}{}  {}", ++rank, columns.rank, hit.score, columns.score,
                         ProbabilityOf(hit), text::Printable(hit.shown_id()));
    const HitTexts texts = TextsOf(hit, columns);
    if (!texts.text.empty()) {
      if (!columns.beside) lines += '\n';
      lines
          .append(
              columns.beside ? columns.id - text::DisplayWidth(hit.shown_id()) + 2 : kTextIndent,
              ' ')
          .append(Bold(texts.text, style.bold && texts.is_passage));
    }
    lines += '\n';
    bool first = true;
    for (const std::string& line : texts.passages) {
      lines.append(kTextIndent, ' ').append(first ? kMark : "  ").append(Bold(line, style.bold)) +=
          '\n';
      first = false;
    }
  }
  return lines;
}

}  // namespace tandem::app
