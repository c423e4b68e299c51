// Views of an embedding space: how near queries lie to documents, whether the two towers share one
// region of the space, and how evenly they use it; numbers, histograms and pictures.
//
//   EmbeddingViews views = MakeEmbeddingViews({.queries = {query_rows, 384}, ...}, {.threads = 2});
//   views.nearest.median, views.separability, views.plane.points ...
//
// All views are of rows scaled to length 1, also for a model that compares by dot products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "eval/views/histogram.h"
#include "eval/views/principal_components.h"
#include "eval/views/unit_rows.h"

namespace tandem::eval {

struct ViewRows {
  EmbeddingRows queries;    // [Q, E]
  EmbeddingRows nearest;    // [Q, E]: row i is the document that scores best for query i
  EmbeddingRows positives;  // [P, E], P <= Q
  std::vector<uint32_t> positive_queries;  // [P]: the query whose positive it is; each at most once
};

struct ViewOptions {
  uint64_t seed = 1;  // of what is drawn: samples, pairs of the ratio, folds
  int threads = 1;
  // Pairs of a query and its positive that are looked at; of more, a sample. Work on all pairs of
  // pairs takes a second of a core at 2,000 x 384.
  size_t most_pairs = 2000;
  size_t most_projected = 500;  // pairs in the pictures: two points each
  size_t ratio_draws = 20'000;
  bool tsne = true;
};

struct NearestView {
  std::optional<double> median;  // of the cosine of query and nearest document
  Histogram histogram;           // from -1 to 1
};

struct RatioView {
  std::optional<double> median;
  Histogram histogram;  // from -1 to 3
  size_t left_out = 0;  // pairs whose denominator is near zero (similarity_ratio.h)
  std::optional<double> mean_query_query;
  std::optional<double> mean_query_positive;
};

// Points of the projected pairs' queries, then of their positives: [2 pairs].
struct Pictures {
  std::vector<uint32_t> queries;  // [pairs]: which rows of ViewRows::queries
  PrincipalPlane principal;
  std::vector<PlanePoint> tsne;  // empty where it was not asked for
};

struct EmbeddingViews {
  size_t queries = 0;
  size_t pairs = 0;  // that were looked at
  NearestView nearest;
  std::optional<double> alignment;             // space_measures.h
  std::optional<double> uniformity_queries;    // of the pairs' queries
  std::optional<double> uniformity_positives;  // and of their positives
  std::optional<double> centroid_gap;
  std::optional<double> separability;  // tower_separability.h
  RatioView ratio;                     // similarity_ratio.h
  Pictures pictures;
};

// `most` of the numbers 0 .. count - 1, ascending, each set of that size equally likely; all of
// them where there are not more. `purpose` names the random stream.
std::vector<uint32_t> SampleOf(size_t count, size_t most, uint64_t seed, std::string_view purpose);

// Deterministic for any number of threads. A number that needs more rows than there are (one query
// has no ratio) has no value. Throws NumericError for a value of a row in use that is not finite,
// and std::logic_error where the rows do not belong together.
// Source: SamToNe (Moiseev et al. 2023) Fig. 1, 5, 6; each number's own file says more.
EmbeddingViews MakeEmbeddingViews(const ViewRows& rows, const ViewOptions& options);

}  // namespace tandem::eval
