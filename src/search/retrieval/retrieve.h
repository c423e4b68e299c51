// Ranks a corpus for each judged query by a model's scores, and collects the score samples of an
// AUC: for `tandem evaluate`, `tandem search` and a run's validation.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/judgements/run.h"
#include "data/texts/passage_groups.h"
#include "eval/samples/auc.h"
#include "model/dual_encoder.h"
#include "search/encode.h"
#include "search/retrieval/exact.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

// A corpus and the judged queries that it is ranked for; views into what outlives the call.
struct RetrievalTask {
  RetrievalTask(const data::Texts& of_documents, const data::Texts& of_queries,
                std::span<const data::JudgedQuery> judged_queries)
      : documents(of_documents), queries(of_queries), judged(judged_queries) {}
  RetrievalTask(const data::Dataset& dataset)  // NOLINT: a data set is a task
      : RetrievalTask(dataset.documents, dataset.queries, dataset.judged) {}

  // Ranks documents by their best passages, which are encoded; the judged documents are those of
  // `groups`, which must outlive the task.
  RetrievalTask(const data::PassageGroups& of_passages, const data::Texts& of_queries,
                std::span<const data::JudgedQuery> judged_queries)
      : documents(of_passages.passages),
        queries(of_queries),
        judged(judged_queries),
        groups(&of_passages) {}

  // What is ranked.
  const data::Texts& ranked() const { return groups == nullptr ? documents : groups->documents; }

  const data::Texts& documents;  // that are encoded
  const data::Texts& queries;
  std::span<const data::JudgedQuery> judged;
  const data::PassageGroups* groups = nullptr;
};

// The embeddings that a search compared, as it compared them: of length 1 for cosines.
struct SearchedRows {
  tensor::Tensor queries;                 // float32 [Q, E]
  std::vector<tensor::Tensor> documents;  // float32 [n, E] each, in the order of the corpus
};

struct RetrieveOptions {
  size_t top_k = 1000;
  // > 0: also collect score samples for an AUC, where a document is a positive from this grade on.
  double relevance_level = 0;
  EncodeOptions encode;          // its label and its prompt are not used
  PromptSource query_prompt;     // of task.judged[i]; null: the model's
  PromptSource document_prompt;  // of document i; null: the model's. Not with `embeddings`
  // Leaves out a document that has its query's id, but one that is judged relevant (grade above 0),
  // of results and samples.
  bool ignore_identical_ids = false;
  bool report = true;  // show bars and warn about truncated and empty texts
  // Folder of the corpus's embeddings. A folder of parts (embeddings/layouts/parts.h) must have
  // embeddings of the same model and texts, and is only read. In any other, those of the same model
  // and texts are used, else they are made and kept there. Empty: none.
  std::filesystem::path embeddings;
  // A cache (search/encoding/embedding_cache.h) that embeddings of queries and, without
  // `embeddings`, of documents are looked up in and kept in, so that a later call goes on where one
  // was stopped; texts of RetrieveForTexts are not kept. Several processes use none. Empty: none.
  // The results are the same.
  std::filesystem::path cache;
  // Told now and then which share of the documents is searched. It may throw, to stop.
  std::function<void(double share)> progress;
  // Receives all embeddings, for a second count (search/scoring/score_counts.h). Null: no block of
  // them outlives its search. 4 E bytes a document.
  SearchedRows* keep = nullptr;
};

struct Retrieved {
  data::Run run;                            // views into what the task ranks
  std::vector<eval::QuerySamples> samples;  // of the judged queries; views into its queries
};

// The queries of a task that are documents of its corpus themselves, and not judged relevant for
// themselves.
struct QueriesInCorpus {
  size_t by_id = 0;    // a document has the query's id
  size_t by_text = 0;  // a document of another id has its text
};
QueriesInCorpus CountQueriesInCorpus(const RetrievalTask& task);

// Every query of `task.judged` against all documents. Never holds a matrix of queries x corpus;
// holds all embeddings of the corpus only where `options.embeddings` keeps them and they
// were not there; of a folder of parts one at a time is mapped.
Retrieved Retrieve(model::DualEncoder& model, const RetrievalTask& task,
                   const RetrieveOptions& options);

// The best documents for each of `queries`, given as text.
std::vector<QueryHits> RetrieveForTexts(model::DualEncoder& model, const data::Texts& documents,
                                        std::span<const std::string> queries,
                                        const RetrieveOptions& options);
// The same, of documents that are ranked by their best passages.
std::vector<QueryHits> RetrieveForTexts(model::DualEncoder& model,
                                        const data::PassageGroups& groups,
                                        std::span<const std::string> queries,
                                        const RetrieveOptions& options);

}  // namespace tandem::search
