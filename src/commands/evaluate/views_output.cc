#include "commands/evaluate/views_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "base/json/json.h"

namespace tandem::app {
namespace {

struct NamedNumber {
  std::string_view name;   // in tsv and json
  std::string_view words;  // in text
  std::optional<double> value;
  bool is_count = false;
};

std::vector<NamedNumber> NumbersOf(const eval::EmbeddingViews& views) {
  const auto count = [](size_t value) { return static_cast<double>(value); };
  const eval::RatioView& ratio = views.ratio;
  return {
      {"queries", "queries", count(views.queries), true},
      {"pairs", "with a positive", count(views.pairs), true},
      {"nearest_cosine_median", "cosine of query and nearest document, median",
       views.nearest.median},
      {"alignment", "alignment of queries and positives (0 best)", views.alignment},
      {"uniformity_queries", "uniformity of queries (-4 even, 0 a point)",
       views.uniformity_queries},
      {"uniformity_positives", "uniformity of positives", views.uniformity_positives},
      {"centroid_gap", "gap between the towers' means", views.centroid_gap},
      {"separability", "towers told apart by a plane (0.5 mixed, 1 apart)", views.separability},
      {"ratio_median", "ratio query-query to query-document, median", ratio.median},
      {"ratio_left_out", "pairs without a ratio (denominator near 0)", count(ratio.left_out), true},
      {"mean_query_query_cosine", "cosine of two queries, mean", ratio.mean_query_query},
      {"mean_query_positive_cosine", "cosine of query and another's positive, mean",
       ratio.mean_query_positive},
  };
}

std::string ViewsText(const eval::EmbeddingViews& views) {
  const std::vector<NamedNumber> numbers = NumbersOf(views);
  size_t width = 0;
  for (const NamedNumber& number : numbers) width = std::max(width, number.words.size());
  std::string text = "\nembedding views\n";
  for (const NamedNumber& number : numbers) {
    const std::string value = !number.value     ? "-"
                              : number.is_count ? fmt::format("{:.0f}", *number.value)
                                                : fmt::format("{:.4f}", *number.value);
    fmt::format_to(std::back_inserter(text), "{:<{}}  {:>8}\n", number.words, width, value);
  }
  return text;
}

std::string ViewsTsv(const eval::EmbeddingViews& views) {
  std::string text;
  for (const NamedNumber& number : NumbersOf(views)) {
    fmt::format_to(std::back_inserter(text), "views.{}\tall\t{}\n", number.name,
                   number.value ? fmt::format("{}", *number.value) : "-");
  }
  return text;
}

Json HistogramJson(const eval::Histogram& histogram) {
  return {{"first", histogram.first},
          {"width", histogram.width},
          {"counts", histogram.counts},
          {"below", histogram.below},
          {"above", histogram.above}};
}

// Writes the points of the queries first, then those of their positives.
Json PointsJson(const eval::Pictures& pictures, std::span<const std::string_view> query_ids) {
  Json points = Json::array();
  const size_t pairs = pictures.queries.size();
  for (size_t i = 0; i < 2 * pairs; ++i) {
    Json point = {{"query", query_ids[pictures.queries[i % pairs]]},
                  {"tower", i < pairs ? "query" : "positive"},
                  {"principal", pictures.principal.points[i]}};
    if (!pictures.tsne.empty()) point["tsne"] = pictures.tsne[i];
    points.push_back(std::move(point));
  }
  return points;
}

Json ViewsJson(const eval::EmbeddingViews& views, std::span<const std::string_view> query_ids) {
  Json json = Json::object();
  for (const NamedNumber& number : NumbersOf(views)) {
    Json& value = json[std::string(number.name)];
    if (!number.value) continue;  // null
    value = number.is_count ? Json(static_cast<size_t>(*number.value)) : Json(*number.value);
  }
  json["nearest_cosine_histogram"] = HistogramJson(views.nearest.histogram);
  json["ratio_histogram"] = HistogramJson(views.ratio.histogram);
  json["explained"] = views.pictures.principal.explained;
  json["points"] = PointsJson(views.pictures, query_ids);
  return json;
}

}  // namespace

FurtherFigures ViewsFigures(const eval::EmbeddingViews& views,
                            std::span<const std::string_view> query_ids) {
  return {.text = ViewsText(views),
          .tsv = ViewsTsv(views),
          .json = {{"views", ViewsJson(views, query_ids)}}};
}

}  // namespace tandem::app
