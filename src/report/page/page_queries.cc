// The queries that a model is best and worst at, with texts.
#include <fmt/format.h>

#include "report/page/page_parts.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

void AddResult(const QueryResult& result, double relevance_level, Page& page) {
  Html& html = page.html();
  const bool right = result.grade && *result.grade >= relevance_level;
  html.In("li", {{"class", right ? "right" : "other"}}, [&] {
    html.In("p", {{"class", "note"}}, [&] {
      html.Element("span", {{"class", "verdict"}},
                   right          ? "right"
                   : result.grade ? "judged, not right"
                                  : "not judged");
      html.Text(fmt::format(" score {}", Fixed(result.score)));
      if (result.grade) html.Text(fmt::format(", grade {:g}", *result.grade));
      html.Text(", ");
      html.Foreign(result.id);
    });
    html.Element("p", {{"class", "document"}, {"dir", "auto"}}, result.text);
  });
}

void AddCase(const QueryCase& query, const QueryCases& cases, double relevance_level, Page& page) {
  Html& html = page.html();
  html.In("details", {{"class", "query"}}, [&] {
    html.In("summary", [&] {
      html.Element("strong", Fixed(query.value, 3));
      html.Element("bdi", {{"class", "words"}}, query.text);
    });
    html.In("p", {{"class", "note"}}, [&] {
      html.Text("Query ");
      html.Foreign(query.id);
      html.Text(", ");
      html.Foreign(cases.measure);
      html.Text(" " + Fixed(query.value));
    });
    if (query.results.empty()) html.Element("p", {{"class", "missing"}}, "No results.");
    html.In("ol", [&] {
      for (const QueryResult& result : query.results) AddResult(result, relevance_level, page);
    });
  });
  html.Break();
}

// Where fewer queries than are listed have a lower value than the best one, the others are not
// "worst".
std::vector<QueryCase> BelowTheBest(const QueryCases& cases) {
  std::vector<QueryCase> below;
  for (const QueryCase& query : cases.worst) {
    if (cases.best.empty() || query.value != cases.best.front().value) below.push_back(query);
  }
  return below;
}

void AddCases(const LabelledEvaluation& one, Page& page) {
  const QueryCases& cases = *one.record.cases;
  const double level = one.record.dataset.relevance_level;
  const auto add = [&](const char* words, const std::vector<QueryCase>& queries) {
    if (queries.empty()) return;
    page.Subheading(fmt::format("{}: {} by {}", one.label, words, cases.measure));
    for (const QueryCase& query : queries) AddCase(query, cases, level, page);
  };
  add("worst", BelowTheBest(cases));
  add("best", cases.best);
}

}  // namespace

void AddQueries(const ReportInput& input, Page& page) {
  if (input.evaluations.empty()) return;
  page.Section("queries", "Best and worst queries", [&] {
    bool any = false;
    for (const LabelledEvaluation& one : input.evaluations) {
      if (!one.record.cases) continue;
      any = true;
      AddCases(one, page);
    }
    if (!any) page.Missing("No texts of queries were kept.");
  });
}

}  // namespace tandem::report
