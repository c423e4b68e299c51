#include "commands/pairs/pairs_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/json/json.h"
#include "base/random.h"
#include "report/tables/one_line.h"
#include "text/width/display_width.h"

namespace tandem::app {
namespace {

using documents::PairSet;
using documents::SourceCounts;

struct LeftOut {
  std::string_view key;    // in JSON
  std::string_view words;  // for a person
  size_t SourceCounts::*count;
};

constexpr LeftOut kLeftOut[] = {{"too_short", "too short", &SourceCounts::too_short},
                                {"no_target", "links to no document", &SourceCounts::no_target},
                                {"over_limit", "over --per-document", &SourceCounts::over_limit},
                                {"near_copies", "near-copies", &SourceCounts::near_copies},
                                {"common", "queries of many texts", &SourceCounts::common},
                                {"repeated", "repeated", &SourceCounts::repeated},
                                {"not_found", "not found by the model", &SourceCounts::not_found}};

std::string LeftOutText(const SourceCounts& counts) {
  if (!counts.chosen) return "not among --sources";
  std::vector<std::string> parts;
  for (const LeftOut& one : kLeftOut) {
    if (counts.*one.count > 0) parts.push_back(fmt::format("{} {}", one.words, counts.*one.count));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Explains the near-copies of the source that lost most of what it found to them; "" if none did.
std::string NearCopiesText(const PairSet& set) {
  const auto most = std::max_element(
      set.counts.begin(), set.counts.end(),
      [](const SourceCounts& a, const SourceCounts& b) { return a.near_copies < b.near_copies; });
  if (most == set.counts.end() || most->near_copies <= most->kept) return "";
  const std::string_view name = most->source->name;
  return fmt::format(
      "near-copies: a text that is nearly one of an earlier pair, as most of {} are here, is kept "
      "once. That is expected: sources find the same paragraphs, and the first keeps them; "
      "--sources {} alone keeps its own\n",
      name, name);
}

size_t QueriesOf(const PairSet& set) {
  size_t queries = 0;
  for (size_t i = 0; i < set.pairs.size(); ++i) {
    queries += i == 0 || set.pairs[i].query != set.pairs[i - 1].query;
  }
  return queries;
}

std::string ExampleText(const PairSet& set, const documents::Pair& pair, size_t columns) {
  constexpr size_t kIndent = 4;
  const size_t width = std::max<size_t>(columns, kIndent + 20) - kIndent;
  const std::string head =
      fmt::format("{}: {}", set.counts[pair.source].source->name, set.queries[pair.query]);
  const std::string text =
      fmt::format("{}: {}", set.documents.id(pair.document), set.documents.text(pair.document));
  return fmt::format("{}\n    -> {}\n", report::OneLine(head, width + kIndent),
                     report::OneLine(text, width - 3));
}

}  // namespace

std::vector<size_t> DrawExamples(const PairSet& set, size_t count, uint64_t seed) {
  std::vector<std::vector<size_t>> of_source(set.counts.size());
  for (size_t i = 0; i < set.pairs.size(); ++i) of_source[set.pairs[i].source].push_back(i);
  RandomStream random({.seed = seed, .purpose = "examples"});
  for (std::vector<size_t>& pairs : of_source) random.Shuffle(std::span(pairs));
  std::vector<size_t> drawn;
  for (size_t turn = 0; drawn.size() < std::min(count, set.pairs.size()); ++turn) {
    for (const std::vector<size_t>& pairs : of_source) {
      if (turn < pairs.size() && drawn.size() < count) drawn.push_back(pairs[turn]);
    }
  }
  std::sort(drawn.begin(), drawn.end(), [&](size_t a, size_t b) {
    return set.pairs[a].source != set.pairs[b].source ? set.pairs[a].source < set.pairs[b].source
                                                      : a < b;
  });
  return drawn;
}

std::string PairsText(const PairSet& set, const std::vector<size_t>& examples,
                      const report::TextStyle& style) {
  report::Table table({{.name = "source"},
                       {.name = "found"},
                       {.name = "kept"},
                       {.name = "left out", .when_long = report::LongText::kWrap}});
  for (const SourceCounts& counts : set.counts) {
    if (!counts.chosen && counts.found == 0) continue;
    table.Add({counts.source->name, counts.found, counts.kept, LeftOutText(counts)});
  }
  std::string text = table.Text(style);
  text += fmt::format("\n{} documents: {} pairs of {} queries and {} texts\n", set.documents_read,
                      set.pairs.size(), QueriesOf(set), set.documents.size());
  text += NearCopiesText(set);
  if (!examples.empty()) text += '\n';
  for (const size_t i : examples) text += ExampleText(set, set.pairs[i], style.columns);
  return text;
}

std::string PairsJson(const PairSet& set, const std::vector<size_t>& examples) {
  Json sources = Json::array();
  for (const SourceCounts& counts : set.counts) {
    Json row = {{"name", counts.source->name},
                {"chosen", counts.chosen},
                {"found", counts.found},
                {"kept", counts.kept}};
    for (const LeftOut& one : kLeftOut) row[one.key] = counts.*one.count;
    sources.push_back(std::move(row));
  }
  Json shown = Json::array();
  for (const size_t i : examples) {
    const documents::Pair& pair = set.pairs[i];
    shown.push_back({{"source", set.counts[pair.source].source->name},
                     {"query", set.queries[pair.query]},
                     {"document", set.documents.id(pair.document)},
                     {"text", set.documents.text(pair.document)}});
  }
  return report::JsonText({{"documents", set.documents_read},
                           {"pairs", set.pairs.size()},
                           {"queries", QueriesOf(set)},
                           {"texts", set.documents.size()},
                           {"sources", std::move(sources)},
                           {"examples", std::move(shown)}});
}

void CheckHasPairs(const PairSet& set) {
  if (!set.pairs.empty()) return;
  std::vector<std::string> chosen, others;
  for (const SourceCounts& counts : set.counts) {
    if (counts.chosen) {
      const std::string left_out = LeftOutText(counts);
      chosen.push_back(
          left_out.empty()
              ? fmt::format("{} found {}", counts.source->name, counts.found)
              : fmt::format("{} found {} ({})", counts.source->name, counts.found, left_out));
    } else if (counts.found > 0) {
      others.push_back(fmt::format("{} ({})", counts.source->name, counts.found));
    }
  }
  throw UsageError(fmt::format(
      "there are no pairs in {} documents: {}; {}", set.documents_read, fmt::join(chosen, ", "),
      others.empty() ? "no other source finds one. `tandem pairs --corpus-only` makes a corpus "
                       "that can be searched"
                     : fmt::format("sources that find some here: {}", fmt::join(others, ", "))));
}

}  // namespace tandem::app
