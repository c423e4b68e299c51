// The judged queries of a data set, and what a command ranks for them: its documents, or with
// --by-document these by their passages.
#pragma once

#include <filesystem>
#include <string_view>

#include "data/judgements/judged_data.h"
#include "data/texts/passage_groups.h"
#include "search/retrieval/retrieve.h"

namespace tandem::app {

struct JudgedSet {
  data::JudgedData judged;
  data::PassageGroups groups;  // by document; else empty

  // Views into this object.
  search::RetrievalTask Task() const;

  // By document: gives the documents the texts of their first passages, to be shown. Else nothing:
  // they have their own.
  void AddTexts();
};

// Throws what LoadJudgedData and LoadJudgedDocuments throw.
JudgedSet LoadJudgedSet(const std::filesystem::path& folder, std::string_view split,
                        bool by_document);

}  // namespace tandem::app
