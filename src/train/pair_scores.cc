#include "train/pair_scores.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "search/pair_scores.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Calls body(judged) for each document of query q's pairs.
template <typename Body>
void ForPool(const PairSource& source, size_t q, const Body& body) {
  if (source.graded_own) {
    for (const auto& judged : source.examples.judged(q)) body(judged);
  } else {
    for (const auto& judged : source.examples.positives(q)) body(judged);
  }
}

// Lists of rows, one for each query.
struct Lists {
  std::vector<size_t> starts = {0};
  std::vector<uint32_t> rows;

  search::RowLists view() const { return {starts, rows}; }
};

// The documents of all pairs, each once, in the order of their first pair.
class PairDocuments {
 public:
  explicit PairDocuments(const PairSource& source) : place_(source.documents.size(), kNone) {
    for (size_t q = 0; q < source.examples.size(); ++q) {
      ForPool(source, q, [&](const auto& judged) {
        if (place_[judged.document] != kNone) return;
        place_[judged.document] = static_cast<uint32_t>(documents_.size());
        documents_.push_back(judged.document);
      });
    }
  }

  size_t size() const { return documents_.size(); }
  uint32_t operator[](size_t place) const { return documents_[place]; }
  bool has(uint32_t document) const { return place_[document] != kNone; }
  uint32_t place(uint32_t document) const { return place_[document]; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> place_;  // [corpus]
  std::vector<uint32_t> documents_;
};

void SortedOnce(std::vector<uint32_t>& rows, size_t first) {
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, rows.end());
  rows.erase(std::unique(begin, rows.end()), rows.end());
}

Lists PairRows(const PairSource& source, const PairDocuments& documents,
               std::span<const uint32_t> row_of) {
  Lists lists;
  for (size_t q = 0; q < source.examples.size(); ++q) {
    ForPool(source, q, [&](const auto& judged) {
      lists.rows.push_back(row_of[documents.place(judged.document)]);
    });
    lists.starts.push_back(lists.rows.size());
  }
  return lists;
}

// The rows that are no candidates of a query: what is relevant for it, and its pairs' documents.
Lists OwnRows(const PairSource& source, const PairDocuments& documents,
              std::span<const uint32_t> row_of) {
  Lists lists;
  const auto add = [&](uint32_t document) {
    if (documents.has(document)) lists.rows.push_back(row_of[documents.place(document)]);
  };
  for (size_t q = 0; q < source.examples.size(); ++q) {
    ForPool(source, q, [&](const auto& judged) { add(judged.document); });
    for (const auto& judged : source.examples.known(q)) {
      if (judged.grade > 0) add(judged.document);
    }
    SortedOnce(lists.rows, lists.starts.back());
    lists.starts.push_back(lists.rows.size());
  }
  return lists;
}

std::vector<uint32_t> PositiveRows(const PairSource& source, const PairDocuments& documents,
                                   std::span<const uint32_t> row_of) {
  std::vector<uint32_t> rows;
  for (size_t q = 0; q < source.examples.size(); ++q) {
    for (const auto& judged : source.examples.positives(q)) {
      rows.push_back(row_of[documents.place(judged.document)]);
    }
  }
  SortedOnce(rows, 0);
  return rows;
}

search::CacheOptions Labelled(const PairScoreOptions& options, const char* label) {
  search::CacheOptions cache = options.cache;
  cache.encode.label = options.progress ? label : "";
  return cache;
}

}  // namespace

PairScores ScorePairs(model::DualEncoder& model, const PairSource& source,
                      const PairScoreOptions& options) {
  const auto start = Clock::now();
  const search::CachedEmbeddings queries = search::EmbedDistinct(
      model, model::TextKind::kQuery, source.query_texts.size(),
      [&](size_t i) { return source.queries.text(source.query_texts[i]); },
      Labelled(options, "encode queries"));
  const PairDocuments wanted(source);
  const search::CachedEmbeddings documents = search::EmbedDistinct(
      model, model::TextKind::kDocument, wanted.size(),
      [&](size_t i) { return source.documents.text(wanted[i]); },
      Labelled(options, "encode documents"));
  PairScores scores{.query_counts = queries.counts,
                    .document_counts = documents.counts,
                    .encode_seconds = SecondsSince(start)};
  const Lists pairs = PairRows(source, wanted, documents.row_of);
  const search::EmbeddedPairs embedded{queries.rows, documents.rows, queries.row_of, pairs.view()};
  scores.cosines = search::PairCosines(embedded);
  if (options.consistency) {
    const Lists own = OwnRows(source, wanted, documents.row_of);
    scores.reciprocal_ranks = search::ReciprocalRanks(
        embedded, own.view(), PositiveRows(source, wanted, documents.row_of),
        {.seed = options.seed});
  }
  scores.seconds = SecondsSince(start);
  return scores;
}

}  // namespace tandem::train
