// BEIR folders: `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`, each also as `.gz`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/judgements/qrels.h"
#include "data/texts/text_role.h"
#include "data/texts/texts.h"
#include "data/warnings.h"

namespace tandem::data {

// Loads everything of one split. `queries` holds all of queries.jsonl, those of other splits too;
// `judged` says which are the split's. Judgements of documents or queries that the folder lacks are
// dropped and counted.
//
// Throws DataError: no such folder; a file is missing (both the plain and the .gz form, or both are
// there); no such split (the message lists those that exist); what ReadTexts and ReadQrels throw;
// no judgement is left. What is counted goes to `warnings`, or to stderr where null.
Dataset LoadBeir(const std::filesystem::path& folder, std::string_view split,
                 Warnings* warnings = nullptr);

// The files of a folder; those of splits by name.
struct BeirSplit {
  std::string name;
  std::filesystem::path file;
};
struct BeirFiles {
  std::filesystem::path corpus;
  std::filesystem::path queries;
  std::vector<BeirSplit> splits;  // none where qrels/ is missing or holds no .tsv
};
// Throws DataError as LoadBeir does, except for what is wrong with splits.
BeirFiles FindBeirFiles(const std::filesystem::path& folder);
// The folder's corpus or its queries. Throws DataError where it has none, or both forms.
std::filesystem::path FindBeirTexts(const std::filesystem::path& folder, TextRole role);

// Documents and queries of a folder that were read before.
struct BeirTexts {
  Texts documents;
  Texts queries;
};

// Another split of a folder whose texts are there already: only its judgements are read.
Dataset LoadBeirSplit(const std::filesystem::path& folder, std::string_view split,
                      const BeirTexts& texts, Warnings* warnings = nullptr);

// Documents or queries only; no judgements are needed.
Texts LoadBeirCorpus(const std::filesystem::path& folder, Warnings* warnings = nullptr);
Texts LoadBeirQueries(const std::filesystem::path& folder, Warnings* warnings = nullptr);

// The judgements of a split as they stand in its file, unknown ids included.
Qrels LoadBeirQrels(const std::filesystem::path& folder, std::string_view split,
                    Warnings* warnings = nullptr);

}  // namespace tandem::data
