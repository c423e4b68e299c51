// BEIR folders: `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`, each also as `.gz`.
#pragma once

#include <filesystem>
#include <string_view>

#include "data/dataset.h"
#include "data/qrels.h"
#include "data/texts.h"
#include "data/warnings.h"

namespace tandem::data {

// Everything of one split. `queries` holds all of queries.jsonl, those of other splits too;
// `judged` says which are the split's. Judgements of documents or queries that the folder lacks
// are dropped and counted.
//
// Throws DataError: no such folder; a file is missing (both the plain and the .gz form, or both are
// there); no such split (the message lists those that exist); what ReadTexts and ReadQrels throw;
// no judgement is left. What is counted goes to `warnings`, or to stderr where null.
Dataset LoadBeir(const std::filesystem::path& folder, std::string_view split,
                 Warnings* warnings = nullptr);

// Documents or queries only; no judgements are needed.
Texts LoadBeirCorpus(const std::filesystem::path& folder, Warnings* warnings = nullptr);
Texts LoadBeirQueries(const std::filesystem::path& folder, Warnings* warnings = nullptr);

// The judgements of a split as they stand in its file, unknown ids included.
Qrels LoadBeirQrels(const std::filesystem::path& folder, std::string_view split,
                    Warnings* warnings = nullptr);

}  // namespace tandem::data
