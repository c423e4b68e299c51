// Mining hard negatives by the embeddings of queries and documents.
//
//   const MiningTask task = MakeMiningTask(set);
//   const SimilarityRows queries(...);     // of the Q texts of the task
//   const SimilarityRows documents(...);   // of its D
//   const Mined mined = MineByEmbeddings(set, task, rules, queries, documents, options);
//
// Several processes of a group divide the queries (gather_mined.h):
//
//   const dist::Share share = MiningShareOf(task, group);
//   Mined own = MineShare(set, task, rules, queries, documents, options, share);
//   const Mined mined = GatherMined(task, std::move(own), group);
#pragma once

#include "dist/process_group.h"
#include "search/mining/mined.h"
#include "search/retrieval/similarity_rows.h"
#include "search/retrieval/tiled_search.h"

namespace tandem::search {

// Row q of `queries` and row d of `documents` are those of the task. With bf16, products in bf16
// choose what may count, and every score that decides something is computed again in fp32: which
// documents are the best of the range, on which side of its ends and of the margins they are, and
// what is written. So bf16 mines what fp32 does, but for errors that add up as they
// hardly can. Throws UsageError where the range begins after the last document, and what
// TiledSearch throws.
Mined MineByEmbeddings(const data::TrainingSet& set, const MiningTask& task,
                       const MiningRules& rules, const SimilarityRows& queries,
                       const SimilarityRows& documents, const TiledSearchOptions& options);

// Mines for the queries of `share` only, so that several processes can divide them; for the others
// nothing is mined.
Mined MineShare(const data::TrainingSet& set, const MiningTask& task, const MiningRules& rules,
                const SimilarityRows& queries, const SimilarityRows& documents,
                const TiledSearchOptions& options, const dist::Share& share);

// The least TiledSearchOptions::memory for embeddings of `width` numbers.
size_t LeastMiningMemory(const MiningTask& task, const MiningRules& rules, size_t width,
                         tensor::Precision precision);

// Throws the UsageError of a range or an amount of memory that MineByEmbeddings refuses, before
// anything is encoded.
void CheckMining(const MiningTask& task, const MiningRules& rules, size_t width,
                 const TiledSearchOptions& options);

}  // namespace tandem::search
