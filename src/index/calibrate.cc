#include "index/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/log.h"
#include "base/process/threads.h"
#include "base/random.h"
#include "index/build_parts.h"
#include "index/graph/best_rows.h"
#include "index/graph/row_products.h"

namespace tandem::index {
namespace {

constexpr uint64_t kSeed = 1;
constexpr size_t kBlockRows = 256;  // rows of 384 numbers that stay in a second-level cache

// Writes `row` and a normally distributed disturbance to `query`.
void Disturb(const float* row, size_t width, uint64_t number, float* query) {
  RandomStream random({.seed = kSeed, .purpose = "recall probe", .epoch = number});
  double row_square = 0, noise_square = 0;
  std::vector<double> noise(width);
  for (size_t i = 0; i < width; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
    noise[i] = radius * std::cos(2 * std::numbers::pi * random.Uniform());
    noise_square += noise[i] * noise[i];
    row_square += double{row[i]} * row[i];
  }
  const double factor = kDisturbance * std::sqrt(row_square / std::max(noise_square, 1e-30));
  for (size_t i = 0; i < width; ++i) query[i] = static_cast<float>(row[i] + factor * noise[i]);
}

// Offers the rows of a block to every query of the probe.
void OfferBlock(const VectorRows& rows, size_t begin, size_t end, const RecallProbe& probe,
                std::vector<BestRows>& best, int threads) {
  ParallelFor(best.size(), 1 + best.size() / (4 * static_cast<size_t>(threads)), threads,
              [&](size_t first, size_t last) {
                for (size_t at = begin; at < end; at += kBlockRows) {
                  const size_t stop = std::min(at + kBlockRows, end);
                  for (size_t q = first; q < last; ++q) {
                    for (size_t row = at; row < stop; ++row) {
                      const float score = DotProduct(probe.queries.data() + q * rows.width,
                                                     rows.values + row * rows.width, rows.width);
                      if (score == score) best[q].Offer(static_cast<uint32_t>(row), score);
                    }
                  }
                }
              });
}

}  // namespace

RecallProbe MakeRecallProbe(const VectorRows& rows, size_t queries, const BuildOptions& options) {
  RecallProbe probe{.width = rows.width};
  const size_t count = std::min(queries, rows.count);
  probe.queries.resize(count * rows.width);
  for (size_t q = 0; q < count; ++q) {
    const size_t row = q * rows.count / count;
    Disturb(rows.values + row * rows.width, rows.width, q, probe.queries.data() + q * rows.width);
  }
  std::vector<BestRows> best(count, BestRows(RecallProbe::kDepth));
  constexpr size_t kRowsBetweenStops = 1 << 16;
  for (size_t begin = 0; begin < rows.count && count > 0; begin += kRowsBetweenStops) {
    ThrowIfBuildStopped(options);
    const size_t end = std::min(begin + kRowsBetweenStops, rows.count);
    OfferBlock(rows, begin, end, probe, best, options.threads);
  }
  for (BestRows& rows_of_query : best) probe.best.push_back(rows_of_query.Take());
  return probe;
}

double MeasureRecall(const RecallProbe& probe, const VectorIndex& index, size_t effort,
                     int threads) {
  std::vector<std::vector<RowHit>> found(probe.count());
  index.Search({.queries = probe.queries.data(),
                .count = probe.count(),
                .k = RecallProbe::kDepth,
                .threads = threads,
                .effort = effort},
               found);
  size_t hits = 0, wanted = 0;
  for (size_t q = 0; q < probe.count(); ++q) {
    wanted += probe.best[q].size();
    if (probe.best[q].empty()) continue;
    const float last = probe.best[q].back().score;
    hits += static_cast<size_t>(std::count_if(
        found[q].begin(), found[q].end(), [&](const RowHit& hit) { return hit.score >= last; }));
  }
  return wanted == 0 ? 1 : static_cast<double>(hits) / static_cast<double>(wanted);
}

MeasuredRecall Calibrate(const RecallProbe& probe, const VectorIndex& index,
                         const std::vector<size_t>& efforts, double wanted,
                         const BuildOptions& options) {
  MeasuredRecall measured{.wanted = wanted, .queries = probe.count()};
  size_t begin = 0, end = efforts.size();  // the answer is in [begin, end)
  while (begin < end) {
    ThrowIfBuildStopped(options);
    const size_t middle = begin + (end - begin) / 2;
    const double recall = MeasureRecall(probe, index, efforts[middle], options.threads);
    if (recall >= wanted) {
      end = middle;
    } else {
      begin = middle + 1;
    }
    if (recall >= wanted || measured.recall < wanted) {
      measured.recall = recall;
      measured.effort = efforts[middle];
    }
  }
  return measured;
}

std::vector<size_t> EffortsBetween(size_t first, size_t last) {
  std::vector<size_t> efforts;
  for (size_t effort = first; effort < last; effort += 1 + effort / 6) efforts.push_back(effort);
  efforts.push_back(last);
  return efforts;
}

void WarnOfRecall(std::string_view kind, const MeasuredRecall& measured, std::string_view advice) {
  if (measured.recall >= measured.wanted) return;
  Warn(fmt::format(
      "{} finds {:.3f} of the best {} rows with the most effort that was tried ({}), "
      "not the {} asked for: {}",
      kind, measured.recall, RecallProbe::kDepth, measured.effort, measured.wanted, advice));
}

}  // namespace tandem::index
