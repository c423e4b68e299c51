#include "app/hits_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/display_width.h"
#include "report/one_line.h"

namespace tandem::app {
namespace {

constexpr size_t kLeastTextColumns = 30;  // with fewer, a text has a line of its own
constexpr size_t kIndent = 6;             // of such a line: behind the rank

}  // namespace

std::string HitsText(std::span<const ShownHit> hits, size_t columns) {
  const auto probability_of = [](const ShownHit& hit) {
    return hit.probability ? fmt::format("  {:.4f}", *hit.probability) : std::string();
  };
  size_t score_width = 0, id_width = 0, probability_width = 0;
  for (const ShownHit& hit : hits) {
    score_width = std::max(score_width, fmt::formatted_size("{:.4f}", hit.score));
    id_width = std::max(id_width, report::DisplayWidth(hit.id));
    probability_width = std::max(probability_width, probability_of(hit).size());
  }
  const size_t rank_width = std::max<size_t>(4, fmt::formatted_size("{}", hits.size()));
  const size_t text_column = rank_width + 2 + score_width + probability_width + 2 + id_width + 2;
  const bool beside = text_column + kLeastTextColumns <= columns;
  const size_t text_columns =
      beside ? columns - text_column : std::max(kLeastTextColumns, columns - kIndent);
  std::string lines;
  size_t rank = 0;
  for (const ShownHit& hit : hits) {
    lines += fmt::format("{:>{}}  {:>{}.4f}{}  {}", ++rank, rank_width, hit.score, score_width,
                         probability_of(hit), report::Printable(hit.id));
    const std::string text = report::OneLine(hit.text, text_columns);
    if (!text.empty()) {
      if (!beside) lines += '\n';
      lines.append(beside ? id_width - report::DisplayWidth(hit.id) + 2 : kIndent, ' ')
          .append(text);
    }
    lines += '\n';
  }
  return lines;
}

}  // namespace tandem::app
