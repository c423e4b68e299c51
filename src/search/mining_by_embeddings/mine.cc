#include "search/mining_by_embeddings/mine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "search/retrieval/search_plan.h"
#include "tensor/core/parallel.h"

namespace tandem::search {
namespace {

using tensor::Precision;

// Approximate scores that are not far enough from a boundary.
struct Interval {
  float low;
  float high;
};

// Returns the largest error of a score of bf16 products. A factor is rounded by at most 2^-9 of it,
// so that a score is wrong by at most 2^-8 of the rows' lengths. Errors of many numbers cancel:
// from 64 on the bound falls as the deviation of their sum does, and stays more than ten times
// that.
float Bf16Error(const SimilarityRows& queries, const SimilarityRows& documents) {
  const float share = std::min(1.0F, 8 / std::sqrt(static_cast<float>(queries.width())));
  return 0x1p-8F * share * queries.longest() * documents.longest();
}

// Says how many hits a query needs. Documents just after the end by an approximate score may be
// before it.
uint32_t DepthOf(const MiningTask& task, const MiningRules& rules, size_t query,
                 Precision precision) {
  size_t depth = HitsNeeded(task, rules, query);
  if (precision != Precision::kFp32) depth += std::max<size_t>(16, depth / 8);
  return static_cast<uint32_t>(std::min(depth, task.document_of.size()));
}

class Miner {
 public:
  Miner(const data::TrainingSet& set, const MiningTask& task, const MiningRules& rules,
        const SimilarityRows& queries, const SimilarityRows& documents, Precision precision)
      : task_(task),
        rules_(rules),
        queries_(queries),
        documents_(documents),
        order_(set.documents, task.document_of),
        error_(precision == Precision::kFp32 ? 0 : Bf16Error(queries, documents)),
        mined_(NothingMined(task)) {}

  // Mines for the queries of `share`.
  Mined Mine(const dist::Share& share, const TiledSearchOptions& options) {
    const auto first = static_cast<size_t>(share.begin), end = static_cast<size_t>(share.end);
    std::vector<uint32_t> depths;
    for (size_t q = first; q < end; ++q) {
      depths.push_back(DepthOf(task_, rules_, q, options.precision));
    }
    ScorePositives(share);
    TiledSearch({queries_, documents_, depths, order_, first}, options,
                [this](size_t query, std::span<const Hit> hits) { Take(query, hits); });
    return std::move(mined_);
  }

 private:
  void ScorePositives(const dist::Share& share) {
    tensor::ParallelFor(share.begin, share.end, 256, [&](int64_t begin, int64_t end) {
      std::vector<float> row(queries_.width());
      for (auto q = static_cast<size_t>(begin); q < static_cast<size_t>(end); ++q) {
        queries_.CopyTo(q, row.data());
        float* scores = mined_.positive_scores.data() + task_.positives.start(q);
        for (const uint32_t document : task_.positives[q]) {
          *scores++ = documents_.ScoreOf(row.data(), document);
        }
      }
    });
  }

  void Take(size_t query, std::span<const Hit> hits) {
    if (error_ == 0) {
      MineQuery(task_, rules_, query, hits, &mined_);
      return;
    }
    std::vector<float> row(queries_.width());
    queries_.CopyTo(query, row.data());
    std::vector<Hit> exact(hits.begin(), hits.end());
    for (const Interval& doubtful : DoubtfulScores(query, hits)) {
      for (size_t i = 0; i < exact.size(); ++i) {
        if (hits[i].score >= doubtful.low && hits[i].score <= doubtful.high) {
          exact[i].score = documents_.ScoreOf(row.data(), hits[i].document);
        }
      }
    }
    std::sort(exact.begin(), exact.end(), order_);
    MineQuery(task_, rules_, query, exact, &mined_);
    for (Hit& hit : mined_.queries[query].negatives) {
      hit.score = documents_.ScoreOf(row.data(), hit.document);
    }
  }

  // Finds where the exact score of a document may change what is mined.
  std::vector<Interval> DoubtfulScores(size_t query, std::span<const Hit> hits) const {
    const float slack = 2 * error_;
    const float ceiling = MarginCeiling(rules_, LowestPositive(task_, mined_, query));
    const std::span<const uint32_t> relevant = task_.relevant[query];
    std::vector<float> candidates;  // approximate scores of what may be mined
    size_t ranks = 0, at_ceiling = 0;
    float end_score = -INFINITY;
    for (const Hit& hit : hits) {
      if (std::binary_search(relevant.begin(), relevant.end(), hit.document)) continue;
      if (ranks++ == rules_.ranks.end) end_score = hit.score;
      if (hit.score <= ceiling) candidates.push_back(hit.score);
      at_ceiling += std::fabs(hit.score - ceiling) <= slack;
    }
    if (candidates.empty()) return {{ceiling - slack, ceiling + slack}};
    // Documents that the margins may take out or not shift the others by that many ranks.
    const auto score_at = [&](size_t rank) {
      return candidates[std::min(rank, candidates.size() - 1)];
    };
    const size_t begin = rules_.ranks.begin, last = begin + rules_.negatives - 1;
    const float highest = score_at(begin - std::min(begin, at_ceiling)) + slack;
    const float lowest = score_at((rules_.random ? begin : last) + at_ceiling) - slack;
    return {{lowest, highest},
            {ceiling - slack, ceiling + slack},
            {end_score - slack, end_score + slack}};
  }

  const MiningTask& task_;
  const MiningRules& rules_;
  const SimilarityRows& queries_;
  const SimilarityRows& documents_;
  HitOrder order_;
  float error_;  // of an approximate score
  Mined mined_;
};

void CheckRange(const MiningRules& rules, size_t documents) {
  if (rules.ranks.begin + 1 >= documents) {
    throw UsageError(fmt::format(
        "--range {}:{} begins beyond the corpus, which has {} different texts; give a lower range",
        rules.ranks.begin, rules.ranks.end, documents));
  }
}

}  // namespace

size_t LeastMiningMemory(const MiningTask& task, const MiningRules& rules, size_t width,
                         Precision precision) {
  SearchShape shape{
      .queries = task.query_of.size(), .documents = task.document_of.size(), .width = width};
  for (size_t q = 0; q < shape.queries; ++q) {
    shape.deepest = std::max<size_t>(shape.deepest, DepthOf(task, rules, q, precision));
  }
  return LeastSearchMemory(shape, precision);
}

void CheckMining(const MiningTask& task, const MiningRules& rules, size_t width,
                 const TiledSearchOptions& options) {
  CheckRange(rules, task.document_of.size());
  const size_t least = LeastMiningMemory(task, rules, width, options.precision);
  if (options.memory < least) throw TooLittleMemory(options.memory, least);
}

Mined MineByEmbeddings(const data::TrainingSet& set, const MiningTask& task,
                       const MiningRules& rules, const SimilarityRows& queries,
                       const SimilarityRows& documents, const TiledSearchOptions& options) {
  const dist::Share all{0, static_cast<int64_t>(task.query_of.size())};
  return MineShare(set, task, rules, queries, documents, options, all);
}

Mined MineShare(const data::TrainingSet& set, const MiningTask& task, const MiningRules& rules,
                const SimilarityRows& queries, const SimilarityRows& documents,
                const TiledSearchOptions& options, const dist::Share& share) {
  CheckRange(rules, documents.size());
  return Miner(set, task, rules, queries, documents, options.precision).Mine(share, options);
}

}  // namespace tandem::search
