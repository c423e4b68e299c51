#include "search/scoring/pair_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "search/scoring/score_tile.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/products/products.h"

namespace tandem::search {
namespace {

// Queries ranked between two checks for an interrupt: about a second's work.
constexpr size_t kRoundQueries = 8192;
constexpr uint32_t kNowhere = UINT32_MAX;

// Adds up in eight sums, which the compiler keeps in vectors.
double Dot(const float* a, const float* b, size_t size) {
  constexpr size_t kLanes = 8;
  double sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    }
  }
  for (; i < size; ++i) sums[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return std::accumulate(std::begin(sums), std::end(sums), 0.0);
}

// The rows of a matrix of embeddings.
class Rows {
 public:
  explicit Rows(const tensor::Tensor& matrix)
      : matrix_(matrix),
        values_(matrix_.data_ptr<float>()),
        width_(static_cast<size_t>(matrix_.size(1))) {}

  const float* operator[](size_t row) const { return values_ + row * width_; }
  size_t width() const { return width_; }
  size_t count() const { return static_cast<size_t>(matrix_.size(0)); }
  // Throws NumericError where it is not finite.
  double Length(size_t row) const {
    const double length = std::sqrt(Dot((*this)[row], (*this)[row], width_));
    if (std::isfinite(length)) return length;
    throw NumericError("an embedding is not finite: the model's weights are broken");
  }
  // Writes the row with length 1; one of length 0 stays 0.
  void WriteNormalized(size_t row, float* to) const {
    const double length = Length(row);
    for (size_t i = 0; i < width_; ++i) {
      to[i] = length > 0 ? static_cast<float>((*this)[row][i] / length) : 0.0F;
    }
  }

 private:
  tensor::Tensor matrix_;
  const float* values_;
  size_t width_;
};

// Cosines of one query.
class QueryCosines {
 public:
  QueryCosines(const Rows& queries, size_t row)
      : query_(queries[row]), length_(queries.Length(row)) {}

  double With(const Rows& documents, size_t row) const {
    const double lengths = length_ * documents.Length(row);
    if (!(lengths > 0)) return 0;
    return Dot(query_, documents[row], documents.width()) / lengths;
  }
  double DotWith(const Rows& documents, size_t row) const {
    documents.Length(row);  // throws where the embedding is not finite
    return Dot(query_, documents[row], documents.width());
  }

 private:
  const float* query_;
  double length_;
};

// The positives that queries are ranked against: the first of one random order.
class Candidates {
 public:
  // A query has at most `most_own` documents that are no candidates for it.
  Candidates(const Rows& documents, size_t most_own, std::vector<uint32_t> positives,
             const ConsistencyOptions& options)
      : documents_(documents), wanted_(options.candidates) {
    RandomStream({options.seed, "consistency"}).Shuffle(std::span(positives));
    positives.resize(std::min(positives.size(), wanted_ + most_own));
    rows_ = std::move(positives);
    place_.assign(documents.count(), kNowhere);
    for (size_t i = 0; i < rows_.size(); ++i) place_[rows_[i]] = static_cast<uint32_t>(i);
    normalized_.resize(rows_.size() * documents.width());
    tensor::ParallelFor(
        0, static_cast<int64_t>(rows_.size()), 256, [&](int64_t begin, int64_t end) {
          for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
            documents.WriteNormalized(rows_[i], normalized_.data() + i * documents.width());
          }
        });
  }

  size_t size() const { return rows_.size(); }
  uint32_t row(size_t place) const { return rows_[place]; }
  const float* normalized(size_t place) const {
    return normalized_.data() + place * documents_.width();
  }

  // The places of a query's judged documents, which are in either list, each once and ascending.
  std::vector<uint32_t> PlacesOf(std::span<const uint32_t> own,
                                 std::span<const uint32_t> relevant) const {
    std::vector<uint32_t> places;
    for (const std::span<const uint32_t> list : {own, relevant}) {
      for (const uint32_t row : list) {
        if (place_[row] != kNowhere) places.push_back(place_[row]);
      }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
  }
  // The place before which `wanted_` candidates are found, those of `own` not counted.
  size_t End(std::span<const uint32_t> own) const {
    size_t end = wanted_;
    for (const uint32_t place : own) end += place < end;
    return std::min(end, size());
  }

 private:
  const Rows& documents_;
  size_t wanted_;
  std::vector<uint32_t> rows_;     // [C]
  std::vector<uint32_t> place_;    // [documents]: in rows_, or kNowhere
  std::vector<float> normalized_;  // [C, E]
};

// Ranks the pairs of some queries.
class TileRanker {
 public:
  TileRanker(const EmbeddedPairs& pairs, const Rows& queries, const Rows& documents,
             const RowLists& relevant, const Candidates& candidates)
      : pairs_(pairs),
        queries_(queries),
        documents_(documents),
        relevant_(relevant),
        candidates_(candidates),
        // Twice a bound of the rounding of a product of E terms and of its factors' lengths.
        close_(static_cast<double>(queries.width() + 8) * 0x1p-23) {}

  // `above` [P]: counts of better candidates are added to it.
  void Rank(size_t first_query, size_t count, uint32_t* above) {
    queries_of_tile_.clear();
    normalized_.resize(count * queries_.width());
    for (size_t i = 0; i < count; ++i) {
      const size_t q = first_query + i, row = pairs_.query_row[q];
      queries_.WriteNormalized(row, normalized_.data() + i * queries_.width());
      queries_of_tile_.push_back({QueryCosines(queries_, row),
                                  candidates_.PlacesOf(pairs_.pairs[q], relevant_[row]),
                                  0,
                                  {}});
      Query& query = queries_of_tile_.back();
      query.end = candidates_.End(query.own);
      for (const uint32_t document : pairs_.pairs[q]) {
        query.cosines.push_back(query.exact.With(documents_, document));
      }
    }
    products_.resize(count * kTileDocuments);
    for (size_t first = 0; first < candidates_.size(); first += kTileDocuments) {
      const size_t width = std::min(kTileDocuments, candidates_.size() - first);
      tensor::cpu::MultiplyRowsByRows({.a = normalized_.data(),
                                       .m = static_cast<int64_t>(count),
                                       .b = candidates_.normalized(first),
                                       .n = static_cast<int64_t>(width),
                                       .depth = static_cast<int64_t>(queries_.width()),
                                       .out = products_.data()});
      for (size_t i = 0; i < count; ++i) {
        Count(queries_of_tile_[i], {products_.data() + i * width, width}, first,
              above + pairs_.pairs.starts[first_query + i]);
      }
    }
  }

 private:
  struct Query {
    QueryCosines exact;
    std::vector<uint32_t> own;    // places
    size_t end;                   // of its candidates
    std::vector<double> cosines;  // of its pairs
  };

  // `products` are those with the candidates from place `first` on; `above` is of its pairs.
  void Count(const Query& query, std::span<float> products, size_t first, uint32_t* above) const {
    if (query.end <= first) return;
    products = products.first(std::min(products.size(), query.end - first));
    for (const uint32_t place : query.own) {
      if (place >= first && place - first < products.size()) {
        products[place - first] = -std::numeric_limits<float>::infinity();
      }
    }
    for (size_t p = 0; p < query.cosines.size(); ++p) {
      above[p] += Better(query, query.cosines[p], products, first);
    }
  }

  uint32_t Better(const Query& query, double cosine, std::span<const float> products,
                  size_t first) const {
    const auto high = static_cast<float>(cosine + close_),
               low = static_cast<float>(cosine - close_);
    uint32_t surely = 0, perhaps = 0;
    for (const float product : products) {
      surely += product > high;
      perhaps += product >= low;
    }
    if (surely == perhaps) return surely;
    for (size_t i = 0; i < products.size(); ++i) {
      if (products[i] < low || products[i] > high) continue;
      surely += query.exact.With(documents_, candidates_.row(first + i)) > cosine;
    }
    return surely;
  }

  const EmbeddedPairs& pairs_;
  const Rows& queries_;
  const Rows& documents_;
  const RowLists& relevant_;
  const Candidates& candidates_;
  double close_;
  std::vector<Query> queries_of_tile_;
  std::vector<float> normalized_;  // [tile, E]
  std::vector<float> products_;    // [tile, kTileDocuments]
};

// Calls body(first, count) for tiles of the queries from `begin` to `end`, on all threads.
template <typename Body>
void ForTiles(size_t begin, size_t end, const Body& body) {
  const auto tiles = static_cast<int64_t>((end - begin + kTileQueries - 1) / kTileQueries);
  tensor::ParallelFor(0, tiles, 1, [&](int64_t first_tile, int64_t last_tile) {
    for (int64_t tile = first_tile; tile < last_tile; ++tile) {
      const size_t first = begin + static_cast<size_t>(tile) * kTileQueries;
      body(first, std::min(kTileQueries, end - first));
    }
  });
}

// Throws NumericError for a dot product that no float32 holds.
float Rounded(double score) {
  const auto rounded = static_cast<float>(score);
  if (std::isfinite(rounded)) return rounded;
  throw NumericError("a score is not finite: its embeddings are too long");
}

// score(query, documents, row) of every pair.
template <typename Score>
std::vector<float> ScoreEach(const EmbeddedPairs& pairs, const Score& score) {
  const Rows queries(pairs.queries), documents(pairs.documents);
  std::vector<float> scores(pairs.pairs.rows.size());
  ForTiles(0, pairs.pairs.size(), [&](size_t first, size_t count) {
    for (size_t q = first; q < first + count; ++q) {
      const QueryCosines query(queries, pairs.query_row[q]);
      size_t p = pairs.pairs.starts[q];
      for (const uint32_t row : pairs.pairs[q]) {
        scores[p++] = Rounded(score(query, documents, row));
      }
    }
  });
  return scores;
}

}  // namespace

std::vector<float> PairCosines(const EmbeddedPairs& pairs) {
  return ScoreEach(pairs, [](const QueryCosines& query, const Rows& documents, size_t row) {
    return query.With(documents, row);
  });
}

std::vector<float> PairDots(const EmbeddedPairs& pairs) {
  return ScoreEach(pairs, [](const QueryCosines& query, const Rows& documents, size_t row) {
    return query.DotWith(documents, row);
  });
}

std::vector<float> ReciprocalRanks(const EmbeddedPairs& pairs, const RowLists& relevant,
                                   std::vector<uint32_t> positives,
                                   const ConsistencyOptions& options) {
  const Rows queries(pairs.queries), documents(pairs.documents);
  size_t most_own = 0;
  for (size_t q = 0; q < pairs.pairs.size(); ++q) {
    most_own = std::max(most_own, pairs.pairs[q].size() + relevant[pairs.query_row[q]].size());
  }
  const Candidates candidates(documents, most_own, std::move(positives), options);
  std::vector<uint32_t> above(pairs.pairs.rows.size());
  for (size_t begin = 0; begin < pairs.pairs.size(); begin += kRoundQueries) {
    const size_t end = std::min(begin + kRoundQueries, pairs.pairs.size());
    ForTiles(begin, end, [&](size_t first, size_t count) {
      TileRanker(pairs, queries, documents, relevant, candidates).Rank(first, count, above.data());
    });
    if (options.between_rounds) options.between_rounds();
  }
  std::vector<float> ranks;
  ranks.reserve(above.size());
  for (const uint32_t better : above) ranks.push_back(1.0F / static_cast<float>(better + 1));
  return ranks;
}

}  // namespace tandem::search
