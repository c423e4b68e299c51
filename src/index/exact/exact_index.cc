#include "index/exact/exact_index.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <exception>
#include <limits>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "index/exact/row_codes.h"
#include "index/kernels/find_at_least.h"

namespace tandem::index {
namespace {

constexpr size_t kWordRows = 64;    // of a word of a mask
constexpr size_t kBlockRows = 256;  // that are scored for one query before any is chosen
constexpr size_t kTileRows = 64;    // the same for a batch: with its scores, a second-level cache
constexpr size_t kBatchQueries = 256;
// The bytes that a thread reads before it takes a new range. Reading them is long compared with the
// time that taking a range costs, and short compared with a search, in which each thread then takes
// several ranges.
constexpr size_t kMostRangeBytes = size_t{1} << 20, kLeastRangeBytes = size_t{1} << 17;
constexpr size_t kRangesOfThread = 8;

// Calls work(thread) on up to `threads` threads, and rethrows the first exception.
template <typename Work>
void OnThreads(int threads, const Work& work) {
  if (threads <= 1) return work(0);
  std::exception_ptr error;
#pragma omp parallel num_threads(threads)
  {
    try {
      work(omp_get_thread_num());
    } catch (...) {
#pragma omp critical(tandem_exact_search)
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

// Ranges of rows that threads take, whole words of a mask.
class RowRanges {
 public:
  RowRanges(size_t rows, size_t row_bytes, int threads) : rows_(rows) {
    const size_t wanted = rows * row_bytes / (kRangesOfThread * static_cast<size_t>(threads));
    const size_t bytes = std::clamp(wanted, kLeastRangeBytes, kMostRangeBytes);
    range_ = std::max<size_t>(1, bytes / row_bytes / kBlockRows) * kBlockRows;
  }

  size_t count() const { return (rows_ + range_ - 1) / range_; }
  // An empty range: there are none left.
  std::pair<size_t, size_t> Take() {
    const size_t first = std::min(rows_, range_ * next_++);
    return {first, std::min(rows_, first + range_)};
  }

 private:
  size_t rows_;
  size_t range_ = 0;
  std::atomic<size_t> next_{0};
};

// The bits of a mask for 64 rows from `first`, a multiple of 64, on.
uint64_t WordAt(const RowMask* allowed, size_t first, size_t rows) {
  const size_t left = rows - first;
  const uint64_t exist = left >= kWordRows ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
  return allowed == nullptr ? exist : allowed->words[first / kWordRows] & exist;
}

template <typename Use>
void ForEachBit(uint64_t word, const Use& use) {
  for (; word != 0; word &= word - 1) use(static_cast<size_t>(std::countr_zero(word)));
}

// One query's search by one thread.
class QueryScan {
 public:
  QueryScan(const PreparedQuery& query, const RowMask* allowed, size_t rows, PossibleHits& found)
      : query_(query), allowed_(allowed), rows_(rows), found_(found) {}

  void Scan(size_t first, size_t end) {
    for (size_t row = first; row < end; row += kBlockRows) {
      const size_t count = std::min(kBlockRows, end - row);
      if (allowed_ == nullptr) {
        Score(row, count);
        found_.Offer(upper_, count, static_cast<uint32_t>(row));
      } else {
        ScanAllowed(row, row + count);
      }
    }
  }

 private:
  void Score(size_t first, size_t count) { query_.Score(first, count, upper_); }

  void ScanAllowed(size_t first, size_t end) {
    for (size_t row = first; row < end; row += kWordRows) {
      const uint64_t word = WordAt(allowed_, row, rows_);
      constexpr int kFew = 24;  // rows of a word that take less time one by one than all of them
      if (std::popcount(word) <= kFew) {
        ForEachBit(word, [&](size_t bit) {
          query_.Score(row + bit, 1, upper_);
          found_.Add(*upper_, static_cast<uint32_t>(row + bit));
        });
        continue;
      }
      const size_t count = std::min(kWordRows, end - row);
      Score(row, count);
      ForEachBit(~word & WordAt(nullptr, row, rows_),
                 [&](size_t bit) { upper_[bit] = -std::numeric_limits<float>::infinity(); });
      found_.Offer(upper_, count, static_cast<uint32_t>(row));
    }
  }

  const PreparedQuery& query_;
  const RowMask* allowed_;
  size_t rows_;
  PossibleHits& found_;
  alignas(64) float upper_[kBlockRows];
};

// A batch's search by one thread.
class BatchScan {
 public:
  BatchScan(const PreparedBatch& batch, const RowMask* allowed, size_t rows,
            std::vector<PossibleHits> found)
      : batch_(batch),
        allowed_(allowed),
        rows_(rows),
        found_(std::move(found)),
        limits_(found_.size(), std::numeric_limits<float>::lowest()),
        upper_(kTileRows * batch.columns()),
        list_(2 * kTileRows),
        columns_(found_.size() + kFoundPadding) {}

  void Scan(size_t first, size_t end) {
    if (allowed_ == nullptr) {
      for (; first < end; first += kTileRows) {
        ScoreBlock({.first = first, .count = std::min(kTileRows, end - first)});
      }
      return;
    }
    for (size_t row = first; row < end; row += kWordRows) {
      ForEachBit(WordAt(allowed_, row, rows_),
                 [&](size_t bit) { list_[listed_++] = static_cast<uint32_t>(row + bit); });
      if (listed_ < kTileRows) continue;
      ScoreBlock({.count = kTileRows, .list = list_.data()});
      listed_ -= kTileRows;
      std::copy_n(list_.begin() + kTileRows, listed_, list_.begin());
    }
  }
  // Scores the rows that wait for a whole block.
  void Finish() {
    if (listed_ > 0) ScoreBlock({.count = listed_, .list = list_.data()});
  }
  const PossibleHits& found(size_t query) const { return found_[query]; }

 private:
  void ScoreBlock(const RowBlock& block) {
    batch_.Score(block, upper_.data());
    for (size_t i = 0; i < block.count; ++i) {
      const float* upper = upper_.data() + i * batch_.columns();
      const size_t count = FindAtLeast(upper, limits_.data(), limits_.size(), columns_.data());
      for (size_t c = 0; c < count; ++c) {
        const uint32_t query = columns_[c];
        found_[query].Add(upper[query], static_cast<uint32_t>(block[i]));
        limits_[query] = found_[query].limit();
      }
    }
  }

  const PreparedBatch& batch_;
  const RowMask* allowed_;
  size_t rows_;
  std::vector<PossibleHits> found_;  // [queries]
  std::vector<float> limits_;        // theirs
  std::vector<float> upper_;         // [kTileRows, columns]
  std::vector<uint32_t> list_;       // allowed rows that are not yet scored: the first `listed_`
  size_t listed_ = 0;
  std::vector<uint32_t> columns_;  // queries for which a row may count
};

class ExactIndex final : public VectorIndex {
 public:
  ExactIndex(const VectorRows& rows, std::unique_ptr<const StoredVectors> vectors)
      : rows_(rows), vectors_(std::move(vectors)) {}

  void Search(const VectorQuery& query, std::span<std::vector<RowHit>> found) const override {
    for (size_t q = 0; q < query.count; ++q) Check(query.queries + q * rows_.width, q);
    for (size_t q = 0; q < query.count; q += kBatchQueries) {
      VectorQuery part = query;
      part.queries += q * rows_.width;
      part.count = std::min(kBatchQueries, query.count - q);
      const auto found_of_part = found.subspan(q, part.count);
      for (std::vector<RowHit>& hits : found_of_part) hits.clear();
      if (query.k == 0 || rows_.count == 0) continue;
      if (part.count < vectors_->least_batch()) {
        SearchEach(part, found_of_part);
      } else {
        SearchBatch(part, found_of_part);
      }
    }
  }

  uint64_t resident_bytes() const override { return vectors_->resident_bytes(); }

 private:
  void Check(const float* query, size_t number) const {
    const double length = RowLength(query, rows_.width);
    if (length * vectors_->longest() <= std::numeric_limits<float>::max() / 2) return;
    throw NumericError(
        fmt::format("{} of query {} is not finite, so its embedding is far too large or broken; "
                    "check the model",
                    std::isfinite(length) ? "a score" : "the embedding", number));
  }

  PossibleHits NoneYet(size_t k, const ScoreBound& bound) const {
    return {k, rows_.count, vectors_->weights(), bound};
  }

  void SearchEach(const VectorQuery& query, std::span<std::vector<RowHit>> found) const {
    for (size_t q = 0; q < query.count; ++q) {
      const float* values = query.queries + q * rows_.width;
      const std::unique_ptr<PreparedQuery> prepared = vectors_->Prepare(values);
      RowRanges ranges = RangesFor(query);
      const int threads = ThreadsFor(query, ranges);
      std::vector<PossibleHits> parts;
      for (int i = 0; i < threads; ++i) parts.push_back(NoneYet(query.k, prepared->bound()));
      OnThreads(threads, [&](int thread) {
        QueryScan scan(*prepared, query.allowed, rows_.count, parts[static_cast<size_t>(thread)]);
        for (auto [first, end] = ranges.Take(); first < end; std::tie(first, end) = ranges.Take()) {
          scan.Scan(first, end);
        }
      });
      std::vector<const PossibleHits*> all;
      for (const PossibleHits& part : parts) all.push_back(&part);
      found[q] = BestOf(all, values, rows_, query.k, vectors_->weights(), prepared->bound());
    }
  }

  void SearchBatch(const VectorQuery& query, std::span<std::vector<RowHit>> found) const {
    const std::unique_ptr<PreparedBatch> batch = vectors_->PrepareBatch(query.queries, query.count);
    RowRanges ranges = RangesFor(query);
    const int threads = ThreadsFor(query, ranges);
    std::vector<std::unique_ptr<BatchScan>> scans(static_cast<size_t>(threads));
    OnThreads(threads, [&](int thread) {
      auto& scan = scans[static_cast<size_t>(thread)];
      scan =
          std::make_unique<BatchScan>(*batch, query.allowed, rows_.count, NoneYetOf(*batch, query));
      for (auto [first, end] = ranges.Take(); first < end; std::tie(first, end) = ranges.Take()) {
        scan->Scan(first, end);
      }
      scan->Finish();
    });
    std::atomic<size_t> next{0};
    OnThreads(threads, [&](int) {
      for (size_t q = next++; q < query.count; q = next++) {
        std::vector<const PossibleHits*> parts;
        for (const auto& scan : scans) {
          if (scan) parts.push_back(&scan->found(q));
        }
        found[q] = BestOf(parts, query.queries + q * rows_.width, rows_, query.k,
                          vectors_->weights(), batch->bound(q));
      }
    });
  }

  std::vector<PossibleHits> NoneYetOf(const PreparedBatch& batch, const VectorQuery& query) const {
    std::vector<PossibleHits> none;
    none.reserve(query.count);
    for (size_t q = 0; q < query.count; ++q) none.push_back(NoneYet(query.k, batch.bound(q)));
    return none;
  }

  RowRanges RangesFor(const VectorQuery& query) const {
    return {rows_.count, vectors_->row_bytes(), std::max(1, query.threads)};
  }
  // Needs no more threads than there are ranges to take.
  static int ThreadsFor(const VectorQuery& query, const RowRanges& ranges) {
    return static_cast<int>(std::min(static_cast<size_t>(std::max(1, query.threads)),
                                     std::max<size_t>(1, ranges.count())));
  }

  VectorRows rows_;
  std::unique_ptr<const StoredVectors> vectors_;
};

}  // namespace

std::unique_ptr<VectorIndex> MakeExactIndex(const VectorRows& rows,
                                            std::unique_ptr<const StoredVectors> vectors) {
  return std::make_unique<ExactIndex>(rows, std::move(vectors));
}

}  // namespace tandem::index
