// Exact search: the best k documents of every query, without a matrix of queries x corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/texts/passage_groups.h"
#include "data/texts/texts.h"
#include "search/retrieval/hits.h"
#include "search/retrieval/top_hits.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

struct QueryHits {
  // Best first; equal scores by document id, descending in bytes, as trec_eval breaks ties.
  std::vector<Hit> hits;
  // The best passage of each hit, among PassageGroups::passages, where documents are ranked by
  // their passages; else empty.
  std::vector<uint32_t> passages;
  // Scores of the documents that were watched for this query, in their order.
  std::vector<float> watched;
};

// Documents come in blocks, in order, while they are encoded, say; memory is O(Q k) and one block
// of scores. Where all embeddings are there, tiled_search.h is faster.
//
//   ExactSearch search(queries, 100, documents);
//   for each block: search.Add(rows);
//   std::vector<QueryHits> found = search.Take();
class ExactSearch {
 public:
  // `queries` float32 [Q, E]; scores are dot products (normalise both sides for cosines).
  // `documents` gives the ids that break ties and must outlive the search. k may exceed the number
  // of documents.
  ExactSearch(const tensor::Tensor& queries, size_t k, const data::Texts& documents);

  // Ranks documents by their passages, whose embeddings Add takes: a document has the score of its
  // best one (of equal ones the first), and k counts documents. So the best of all passages are
  // found before anything is cut off. `groups` must outlive the search; Watch and the hits name
  // documents of it.
  ExactSearch(const tensor::Tensor& queries, size_t k, const data::PassageGroups& groups);

  // Names for each query the documents, ascending, whose scores are wanted whatever their rank (the
  // positives, for an AUC). Call it before Add.
  void Watch(std::vector<std::vector<uint32_t>> documents);

  // The next documents' embeddings, float32 [n, E]. Throws NumericError for a score that is not
  // finite.
  void Add(const tensor::Tensor& rows);

  // The results of all documents so far; the search is then empty.
  std::vector<QueryHits> Take();

 private:
  struct Block {
    const float* rows;  // [count, E]
    size_t first;       // document
    size_t count;
  };
  void ScoreTile(const Block& block, size_t first_query, size_t queries, float* scores);
  void KeepWatched(size_t query, const Block& block, const float* scores);
  void KeepWatchedDocuments(size_t query, const Block& block, const float* scores);
  // Leaves the score of the best passage of each document in `scores`, NaN in place of the others.
  // The last document's is kept back, since the next block may have more of its passages.
  void KeepBestPassages(size_t query, const Block& block, float* scores);

  tensor::Tensor queries_;
  HitOrder order_;
  size_t next_document_ = 0;
  std::vector<TopHits> top_;      // of each query
  std::vector<QueryHits> found_;  // without hits until Take
  std::vector<std::vector<uint32_t>> watched_;
  const data::PassageGroups* groups_ = nullptr;
  std::vector<Hit> kept_back_;  // of each query, where groups_ are ranked: a passage
};

// The rows whose dot products are the similarity: of length 1 for "cosine", unchanged for "dot".
tensor::Tensor RowsFor(const tensor::Tensor& embeddings, std::string_view similarity);

}  // namespace tandem::search
