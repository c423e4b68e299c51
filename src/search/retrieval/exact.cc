#include "search/retrieval/exact.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "search/scoring/score_tile.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/products/products.h"
#include "tensor/kernels/cpu/rows/score_rows.h"
#include "tensor/ops.h"

namespace tandem::search {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

}  // namespace

ExactSearch::ExactSearch(const tensor::Tensor& queries, size_t k, const data::Texts& documents)
    : queries_(queries), order_(documents), found_(static_cast<size_t>(queries.size(0))) {
  top_.reserve(found_.size());
  for (size_t q = 0; q < found_.size(); ++q) top_.emplace_back(k, documents.size());
}

ExactSearch::ExactSearch(const tensor::Tensor& queries, size_t k, const data::PassageGroups& groups)
    : queries_(queries),
      order_(groups.documents, groups.document_of),
      found_(static_cast<size_t>(queries.size(0))),
      groups_(&groups),
      kept_back_(found_.size(), {.score = kNone}) {
  top_.reserve(found_.size());
  for (size_t q = 0; q < found_.size(); ++q) {
    top_.emplace_back(std::min(k, groups.documents.size()), groups.passages.size());
  }
}

void ExactSearch::Watch(std::vector<std::vector<uint32_t>> documents) {
  if (documents.size() != found_.size()) throw std::logic_error("Watch takes one list per query");
  watched_ = std::move(documents);
  for (size_t q = 0; q < found_.size(); ++q) {
    found_[q].watched.resize(watched_[q].size(), groups_ == nullptr ? 0 : kNone);
  }
}

void ExactSearch::KeepWatched(size_t query, const Block& block, const float* scores) {
  const std::vector<uint32_t>& wanted = watched_[query];
  auto at = std::lower_bound(wanted.begin(), wanted.end(), block.first);
  for (; at != wanted.end() && *at < block.first + block.count; ++at) {
    found_[query].watched[static_cast<size_t>(at - wanted.begin())] = scores[*at - block.first];
  }
}

void ExactSearch::KeepWatchedDocuments(size_t query, const Block& block, const float* scores) {
  const std::vector<uint32_t>& wanted = watched_[query];
  const size_t end = block.first + block.count;
  auto at = std::lower_bound(wanted.begin(), wanted.end(), groups_->document_of[block.first]);
  for (; at != wanted.end() && groups_->starts[*at] < end; ++at) {
    const size_t from = std::max<size_t>(groups_->starts[*at], block.first);
    const size_t to = std::min<size_t>(groups_->starts[*at + 1], end);
    float& best = found_[query].watched[static_cast<size_t>(at - wanted.begin())];
    for (size_t p = from; p < to; ++p) best = std::max(best, scores[p - block.first]);
  }
}

void ExactSearch::KeepBestPassages(size_t query, const Block& block, float* scores) {
  constexpr float kNotFound = std::numeric_limits<float>::quiet_NaN();
  Hit& last = kept_back_[query];
  for (size_t i = 0; i < block.count; ++i) {
    const auto passage = static_cast<uint32_t>(block.first + i);
    const float score = std::exchange(scores[i], kNotFound);
    if (last.score == kNone) {
      last = {passage, score};
    } else if (groups_->document_of[last.document] == groups_->document_of[passage]) {
      if (score > last.score) last = {passage, score};
    } else {
      // The document before is complete; its best passage may be in a block that has gone.
      if (last.document >= block.first) {
        scores[last.document - block.first] = last.score;
      } else {
        top_[query].Offer({&last.score, 1}, last.document, order_);
      }
      last = {passage, score};
    }
  }
}

void ExactSearch::ScoreTile(const Block& block, size_t first_query, size_t queries, float* scores) {
  const auto width = queries_.size(1);
  const float* query_rows = queries_.data_ptr<float>() + first_query * static_cast<size_t>(width);
  tensor::cpu::MultiplyRowsByRows({.a = query_rows,
                                   .m = static_cast<int64_t>(queries),
                                   .b = block.rows,
                                   .n = static_cast<int64_t>(block.count),
                                   .depth = width,
                                   .out = scores});
  for (size_t q = 0; q < queries; ++q) {
    float* const row = scores + q * block.count;
    if (!tensor::cpu::AllFinite(row, block.count)) {
      throw NumericError(
          "a score of the search is not finite, so the model's embeddings are not: its weights are "
          "broken");
    }
    if (groups_ != nullptr) {
      if (!watched_.empty()) KeepWatchedDocuments(first_query + q, block, row);
      KeepBestPassages(first_query + q, block, row);
    } else if (!watched_.empty()) {
      KeepWatched(first_query + q, block, row);
    }
    top_[first_query + q].Offer({row, block.count}, static_cast<uint32_t>(block.first), order_);
  }
}

void ExactSearch::Add(const tensor::Tensor& rows) {
  const auto total = static_cast<size_t>(rows.size(0)), width = static_cast<size_t>(rows.size(1));
  const size_t tiles = (found_.size() + kTileQueries - 1) / kTileQueries;
  for (size_t first = 0; first < total; first += kTileDocuments) {
    const Block block{rows.data_ptr<float>() + first * width, next_document_,
                      std::min(kTileDocuments, total - first)};
    tensor::ParallelFor(0, static_cast<int64_t>(tiles), 1, [&](int64_t begin, int64_t end) {
      thread_local std::vector<float> scores;
      scores.resize(kTileQueries * kTileDocuments);
      for (auto tile = static_cast<size_t>(begin); tile < static_cast<size_t>(end); ++tile) {
        const size_t query = tile * kTileQueries;
        ScoreTile(block, query, std::min(kTileQueries, found_.size() - query), scores.data());
      }
    });
    next_document_ += block.count;
  }
}

std::vector<QueryHits> ExactSearch::Take() {
  for (size_t q = 0; q < found_.size(); ++q) {
    if (groups_ != nullptr && kept_back_[q].score != kNone) {
      top_[q].Offer({&kept_back_[q].score, 1}, kept_back_[q].document, order_);
    }
    found_[q].hits = top_[q].Take(order_);
    if (groups_ == nullptr) continue;
    for (Hit& hit : found_[q].hits) {
      found_[q].passages.push_back(hit.document);
      hit.document = groups_->document_of[hit.document];
    }
  }
  return std::exchange(found_, {});
}

tensor::Tensor RowsFor(const tensor::Tensor& embeddings, std::string_view similarity) {
  return similarity == "dot" ? embeddings : tensor::NormalizeRows(embeddings);
}

}  // namespace tandem::search
