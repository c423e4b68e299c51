// The judged queries of a BEIR split with everything that is judged of them, as evaluation ranks
// and counts them. (LoadBeir gives only what can be trained on.)
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "data/dataset.h"
#include "data/formats/beir.h"
#include "data/judgements/qrels.h"
#include "data/texts/passage_groups.h"
#include "data/warnings.h"

namespace tandem::data {

struct JudgedData {
  // All of corpus.jsonl and queries.jsonl. `judged` has every judged query that has a text, also
  // one whose judged documents are all missing from the corpus (it has no judgements here).
  Dataset dataset;
  // Every judgement of the split's file, also those of queries without text and of documents that
  // the corpus lacks. A mean over these queries is the mean of trec_eval -c.
  Qrels qrels;
};

// `texts` are those of the folder where they are there already; null: they are read. Warns about
// queries and documents that are judged and missing, in `warnings` or, where null, at once. Throws
// what LoadBeir throws for files that cannot be read, and DataError where no judgement names both a
// query and a document that are there.
JudgedData LoadJudgedData(const std::filesystem::path& folder, std::string_view split,
                          const BeirTexts* texts = nullptr, Warnings* warnings = nullptr);

// The same, where the corpus has passages: `dataset.documents` are the documents that they are of,
// without texts, and so are those that are judged. A judgement of a passage is one of its document;
// of several the highest grade counts. `groups` becomes the corpus.
JudgedData LoadJudgedDocuments(const std::filesystem::path& folder, std::string_view split,
                               PassageGroups* groups, Warnings* warnings = nullptr);

// A hash of the judged queries, the judgements, and the ids and texts of all documents, or of
// `passages` where these are what is searched; in any order. Another one: other data.
uint64_t Fingerprint(const JudgedData& judged, const Texts* passages = nullptr);

}  // namespace tandem::data
