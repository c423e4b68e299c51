#include "eval/views/embedding_views.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>

#include "base/random.h"
#include "eval/views/similarity_ratio.h"
#include "eval/views/space_measures.h"
#include "eval/views/tower_separability.h"
#include "eval/views/tsne.h"

namespace tandem::eval {
namespace {

constexpr size_t kCosineBins = 100;  // of 0.02
constexpr size_t kRatioBins = 80;    // of 0.05
constexpr double kRatioFrom = -1;
constexpr double kRatioTo = 3;

void CheckShapes(const ViewRows& rows) {
  const size_t queries = rows.queries.size();
  if (rows.nearest.size() != queries || rows.positive_queries.size() != rows.positives.size() ||
      std::any_of(rows.positive_queries.begin(), rows.positive_queries.end(),
                  [&](uint32_t query) { return query >= queries; })) {
    throw std::logic_error("embedding views: rows do not belong together");
  }
  for (const EmbeddingRows* other : {&rows.nearest, &rows.positives}) {
    if (!other->values.empty() && other->width != rows.queries.width) {
      throw std::logic_error("embedding views: rows have several widths");
    }
  }
}

// Some rows at a time, so that only they are held as doubles.
NearestView ViewNearest(const ViewRows& rows) {
  constexpr size_t kWindow = 1024;
  std::vector<double> cosines;
  for (size_t first = 0; first < rows.queries.size(); first += kWindow) {
    std::vector<uint32_t> window(std::min(kWindow, rows.queries.size() - first));
    std::iota(window.begin(), window.end(), static_cast<uint32_t>(first));
    const UnitRows queries(rows.queries, window, "queries");
    const UnitRows nearest(rows.nearest, window, "nearest documents");
    for (size_t i = 0; i < window.size(); ++i) {
      cosines.push_back(std::clamp(Dot(queries.row(i), nearest.row(i)), -1.0, 1.0));
    }
  }
  return {Median(cosines), MakeHistogram(cosines, -1, 1, kCosineBins)};
}

RatioView ViewRatio(const UnitRows& queries, const UnitRows& positives,
                    const ViewOptions& options) {
  const SimilarityRatios ratios =
      RatiosOf(queries, positives, {.draws = options.ratio_draws, .seed = options.seed});
  return {.median = Median(ratios.ratios),
          .histogram = MakeHistogram(ratios.ratios, kRatioFrom, kRatioTo, kRatioBins),
          .left_out = ratios.left_out,
          .mean_query_query = ratios.mean_query_query,
          .mean_query_positive = ratios.mean_query_positive};
}

// The query rows of `pairs` and their positives.
struct PairRows {
  std::vector<uint32_t> query_rows;
  UnitRows queries;
  UnitRows positives;
};

PairRows RowsOf(const ViewRows& rows, std::span<const uint32_t> pairs) {
  std::vector<uint32_t> query_rows;
  for (const uint32_t pair : pairs) query_rows.push_back(rows.positive_queries[pair]);
  UnitRows queries(rows.queries, query_rows, "queries");
  UnitRows positives(rows.positives, pairs, "positives");
  return {std::move(query_rows), std::move(queries), std::move(positives)};
}

Pictures DrawPictures(PairRows pairs, const ViewOptions& options) {
  Pictures pictures{.queries = std::move(pairs.query_rows)};
  UnitRows both = std::move(pairs.queries);
  both.Append(pairs.positives);
  pictures.principal = ProjectOnPlane(both, options.threads);
  if (options.tsne) {
    pictures.tsne = Tsne(both, pictures.principal.points, {.threads = options.threads});
  }
  return pictures;
}

}  // namespace

std::vector<uint32_t> SampleOf(size_t count, size_t most, uint64_t seed, std::string_view purpose) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (count <= most) return numbers;
  RandomStream random({.seed = seed, .purpose = purpose});
  for (size_t i = 0; i < most; ++i) std::swap(numbers[i], numbers[i + random.Below(count - i)]);
  numbers.resize(most);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

EmbeddingViews MakeEmbeddingViews(const ViewRows& rows, const ViewOptions& options) {
  CheckShapes(rows);
  const std::vector<uint32_t> sample =
      SampleOf(rows.positives.size(), options.most_pairs, options.seed, "pairs of views");
  const PairRows pairs = RowsOf(rows, sample);
  EmbeddingViews views{.queries = rows.queries.size(), .pairs = sample.size()};
  views.nearest = ViewNearest(rows);
  views.alignment = Alignment(pairs.queries, pairs.positives);
  views.uniformity_queries = Uniformity(pairs.queries, options.threads);
  views.uniformity_positives = Uniformity(pairs.positives, options.threads);
  views.centroid_gap = CentroidGap(pairs.queries, pairs.positives);
  views.separability = LinearSeparability(pairs.queries, pairs.positives,
                                          {.seed = options.seed, .threads = options.threads});
  views.ratio = ViewRatio(pairs.queries, pairs.positives, options);
  std::vector<uint32_t> drawn;
  for (const uint32_t at :
       SampleOf(sample.size(), options.most_projected, options.seed, "pictures of views")) {
    drawn.push_back(sample[at]);
  }
  views.pictures = DrawPictures(RowsOf(rows, drawn), options);
  return views;
}

}  // namespace tandem::eval
