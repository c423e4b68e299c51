// The documents of a corpus that is there already, by their ids: what an import judges where rows
// name documents instead of holding their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/texts/arena.h"
#include "data/texts/slot_table.h"
#include "data/warnings.h"
#include "import/examples/example_reader.h"
#include "import/row_source.h"

namespace tandem::import_data {

// The ids of the folder's corpus.jsonl, and of the documents of which it holds passages
// (data/texts/passage_groups.h): where it has "care.md#1" and "care.md#2", "care.md" is a document.
// Memory holds ids, no texts: about 40 bytes for each besides the id itself.
class CorpusDocuments {
 public:
  // Throws DataError for a folder without a corpus, for what TextStream refuses, and for an id that
  // comes twice.
  CorpusDocuments(const std::filesystem::path& folder, data::Warnings& warnings);

  std::optional<uint32_t> Find(std::string_view id) const;
  std::string_view id(uint32_t number) const { return documents_[number].id; }
  // Says whether the corpus holds the document as passages alone, so that nothing but a ranking by
  // document finds it.
  bool is_cut(uint32_t number) const { return !documents_[number].is_text; }

  // Says whether all documents of the example are there; else sets the row's problem.
  bool HaveAll(const Example& example, Row& row) const;

  uint64_t texts() const { return texts_; }  // of the corpus
  const std::filesystem::path& file() const { return file_; }

 private:
  struct Document {
    std::string_view id;   // in arena_
    bool is_text = false;  // else a document whose passages are texts
  };

  // The number of the document, a new one where the id was not there.
  uint32_t Add(std::string_view id);
  // An id whose file has the name that `value` has, whatever folders and ending either has.
  std::string_view OfSameName(std::string_view value) const;

  std::filesystem::path file_;
  data::Arena arena_;
  std::vector<Document> documents_;
  data::SlotTable by_id_;
  mutable std::optional<data::SlotTable> by_name_;  // made when the first id is not found
  uint64_t texts_ = 0;
};

}  // namespace tandem::import_data
