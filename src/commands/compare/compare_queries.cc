// Shows the queries that gained and lost most, with the best documents of both systems side by
// side.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/compare/compare_output.h"
#include "eval/ranking.h"
#include "report/tables/one_line.h"
#include "text/width/display_width.h"

namespace tandem::app {
namespace {

constexpr std::string_view kBetween = " | ";
constexpr size_t kIndent = 2;
constexpr size_t kValuesColumns = 17;  // "0.3333 -> 1.0000 "

std::string PadTo(std::string text, size_t columns) {
  text.append(columns - std::min(columns, text::DisplayWidth(text)), ' ');
  return text;
}

std::string_view TextOf(const data::Texts& texts, std::string_view id) {
  const std::optional<uint32_t> index = texts.Find(id);
  return index ? texts.text(*index) : std::string_view();
}

// Whether the id says nothing to a person: digits of a hash, as `import` gives them to texts
// ("q3f0c..."), or of a UUID.
bool IsHash(std::string_view id) {
  constexpr size_t kShortest = 12;
  if (id.size() < kShortest) return false;
  const bool marked = id.front() == 'q' || id.front() == 'd';
  return id.find_first_not_of("0123456789abcdef-", marked ? 1 : 0) == std::string_view::npos &&
         id.find_first_of("0123456789") != std::string_view::npos;
}

// The text, after its id where that says something. Names of pages begin alike and differ at their
// ends: of an id that is longer than the line both stay. A text has what the id leaves, if that is
// enough for a word or two.
std::string IdAndText(std::string_view id, std::string_view text, size_t columns) {
  constexpr size_t kLeastText = 10;
  if (IsHash(id) && !text.empty()) return report::OneLine(text, columns);
  const std::string name = report::EndsOfLine(id, columns);
  if (text::DisplayWidth(name) + 1 + kLeastText > columns) return name;
  return report::OneLine(fmt::format("{} {}", name, text), columns);
}

// Returns a line for each of a query's best documents: "+ ID text", with "+" for a positive.
std::vector<std::string> BestDocuments(const ShownComparison& shown, const data::Run& run,
                                       std::string_view query, size_t columns) {
  const data::QueryResults* results = run.Find(query);
  if (results == nullptr) return {"(no results)"};
  const eval::JudgedRanking ranking =
      eval::RankAndJudge(results->results, shown.qrels.Find(query)->judgements,
                         EvaluationOptionsOf(shown.options).ranking);
  std::vector<std::string> lines;
  for (size_t rank = 0; rank < std::min(shown.options.documents, ranking.results.size()); ++rank) {
    const std::string_view id = ranking.results[rank].document;
    lines.push_back(fmt::format("{} {}", ranking.IsPositive(rank) ? "+" : "-",
                                IdAndText(id, TextOf(shown.texts.documents, id), columns - 2)));
  }
  return lines;
}

std::string QueryText(const ShownComparison& shown, size_t system,
                      const eval::QueryDifference& query, size_t columns) {
  const std::string_view text = TextOf(shown.texts.queries, query.query);
  std::string lines =
      fmt::format("{} -> {} {}\n", report::Fixed(query.baseline), report::Fixed(query.value),
                  IdAndText(query.query, text, columns - kValuesColumns));
  const size_t half = (columns - kIndent - kBetween.size()) / 2;
  const std::vector<std::string> left =
      BestDocuments(shown, shown.systems[0].run, query.query, half);
  const std::vector<std::string> right =
      BestDocuments(shown, shown.systems[system + 1].run, query.query, half);
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string line(kIndent, ' ');
    line += PadTo(i < left.size() ? left[i] : "", half);
    line += i < right.size() ? fmt::format("{}{}", kBetween, right[i]) : " |";
    lines += line + "\n";
  }
  return lines;
}

}  // namespace

std::string ExtremesText(const ShownComparison& shown, size_t system,
                         const report::TextStyle& style) {
  const eval::System& baseline = shown.systems[0].system;
  const std::vector<eval::MeasureValues>& measures = baseline.evaluation.measures;
  const auto with_queries = std::find_if(measures.begin(), measures.end(),
                                         [](const auto& m) { return !m.per_query.empty(); });
  if (with_queries == measures.end() || shown.options.queries == 0) return "";
  const eval::Extremes extremes =
      eval::ExtremesOf(shown.comparison, baseline, shown.systems[system + 1].system,
                       static_cast<size_t>(with_queries - measures.begin()), shown.options.queries);
  const size_t columns = std::max<size_t>(style.columns, 40);
  std::string text;
  const auto append = [&](std::string_view what,
                          const std::vector<eval::QueryDifference>& queries) {
    if (queries.empty()) return;
    text += fmt::format("\nqueries that {} most by {} (left: the baseline; +: a positive)\n", what,
                        with_queries->measure.name());
    for (const auto& query : queries) text += QueryText(shown, system, query, columns);
  };
  append("gained", extremes.gained);
  append("lost", extremes.lost);
  return text;
}

}  // namespace tandem::app
