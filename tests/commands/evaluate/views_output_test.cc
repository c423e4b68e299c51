#include "commands/evaluate/views_output.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json/json_reader.h"

namespace tandem::app {
namespace {

// Two queries, the first of which has a positive: many numbers do not exist.
eval::EmbeddingViews SomeViews() {
  eval::EmbeddingViews views{.queries = 2, .pairs = 1};
  views.nearest = {.median = 0.75, .histogram = {.first = -1, .width = 1, .counts = {0, 2}}};
  views.alignment = 0.4;
  views.centroid_gap = 1.0 / 3;
  views.ratio.histogram = {.first = 0, .width = 2, .counts = {1}, .below = 3, .above = 4};
  views.ratio.left_out = 5;
  views.pictures = {.queries = {1}, .principal = {{{1, 2}, {3, 4}}, {0.75, 0.25}}};
  return views;
}

const std::vector<std::string_view> kIds = {"q-a", "q-b"};

TEST(ViewsOutput, TextAlignsItsNumbers) {
  EXPECT_EQ(ViewsFigures(SomeViews(), kIds).text,
            "\nembedding views\n"
            "queries                                                   2\n"
            "with a positive                                           1\n"
            "cosine of query and nearest document, median         0.7500\n"
            "alignment of queries and positives (0 best)          0.4000\n"
            "uniformity of queries (-4 even, 0 a point)                -\n"
            "uniformity of positives                                   -\n"
            "gap between the towers' means                        0.3333\n"
            "towers told apart by a plane (0.5 mixed, 1 apart)         -\n"
            "ratio query-query to query-document, median               -\n"
            "pairs without a ratio (denominator near 0)                5\n"
            "cosine of two queries, mean                               -\n"
            "cosine of query and another's positive, mean              -\n");
}

TEST(ViewsOutput, TsvDoesNotRound) {
  EXPECT_EQ(ViewsFigures(SomeViews(), kIds).tsv,
            "views.queries\tall\t2\n"
            "views.pairs\tall\t1\n"
            "views.nearest_cosine_median\tall\t0.75\n"
            "views.alignment\tall\t0.4\n"
            "views.uniformity_queries\tall\t-\n"
            "views.uniformity_positives\tall\t-\n"
            "views.centroid_gap\tall\t0.3333333333333333\n"
            "views.separability\tall\t-\n"
            "views.ratio_median\tall\t-\n"
            "views.ratio_left_out\tall\t5\n"
            "views.mean_query_query_cosine\tall\t-\n"
            "views.mean_query_positive_cosine\tall\t-\n");
}

TEST(ViewsOutput, JsonHasHistogramsAndPoints) {
  const FurtherFigures figures = ViewsFigures(SomeViews(), kIds);
  const auto wanted = ParseJson(R"({
    "queries": 2, "pairs": 1, "nearest_cosine_median": 0.75, "alignment": 0.4,
    "uniformity_queries": null, "uniformity_positives": null,
    "centroid_gap": 0.3333333333333333, "separability": null, "ratio_median": null,
    "ratio_left_out": 5, "mean_query_query_cosine": null, "mean_query_positive_cosine": null,
    "nearest_cosine_histogram":
      {"first": -1.0, "width": 1.0, "counts": [0, 2], "below": 0, "above": 0},
    "ratio_histogram": {"first": 0.0, "width": 2.0, "counts": [1], "below": 3, "above": 4},
    "explained": [0.75, 0.25],
    "points": [{"query": "q-b", "tower": "query", "principal": [1.0, 2.0]},
               {"query": "q-b", "tower": "positive", "principal": [3.0, 4.0]}]})");
  EXPECT_EQ(figures.json["views"], wanted) << figures.json.Dump(1);
  eval::EmbeddingViews views = SomeViews();
  views.pictures.tsne = {{5, 6}, {7, 8}};
  EXPECT_EQ(ViewsFigures(views, kIds).json["views"]["points"][1]["tsne"], ParseJson("[7.0, 8.0]"));
}

}  // namespace
}  // namespace tandem::app
