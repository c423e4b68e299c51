// The judged queries of a BEIR split, as commands rank and evaluate them.
#pragma once

#include <filesystem>
#include <string_view>

#include "data/dataset.h"
#include "data/qrels.h"

namespace tandem::app {

struct JudgedData {
  // All of corpus.jsonl and queries.jsonl. `judged` has every judged query that has a text, also
  // one whose judged documents are all missing from the corpus (it has no judgements here).
  data::Dataset dataset;
  // Every judgement of the split's file, also those of queries without text and of documents that
  // the corpus lacks. A mean over these queries is the mean of trec_eval -c.
  data::Qrels qrels;
};

// Warns about queries and documents that are judged and missing. Throws what data/beir.h throws,
// and DataError where no judgement names both a query and a document that are there.
JudgedData LoadJudgedData(const std::filesystem::path& folder, std::string_view split);

}  // namespace tandem::app
