// The documents and queries of an import, each once, however many rows name it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "data/texts/arena.h"
#include "data/texts/slot_table.h"
#include "data/texts/texts.h"

namespace tandem::import_data {

// What became of a text: its number, or the problem for which it has none.
struct StoredText {
  uint32_t number = 0;
  std::string problem;  // "": there is none
};

// Documents go to a file when they are first seen; 60 bytes of each stay in memory (and its id, if
// it was given one).
class DocumentStore {
 public:
  // A null file: nothing is written. It must outlive the store.
  explicit DocumentStore(AtomicFile* file) : file_(file) {}

  // The same text is one document; so is the same title and text. `id` is the document's if it was
  // not there before; a text that had another id before keeps that one, which is counted. There is
  // a problem where the id had another text before.
  StoredText Add(std::string_view id, std::string_view title, std::string_view text);

  size_t size() const { return documents_.size(); }
  std::string id(uint32_t number) const;
  uint64_t merged() const { return merged_; }  // ids whose text had another one

 private:
  struct Document {
    uint64_t hash = 0;
    uint64_t other_hash = 0;  // both together tell texts apart
    std::string_view id;      // in arena_; empty: made of the hash
  };

  AtomicFile* file_;
  std::vector<Document> documents_;
  data::SlotTable by_text_;
  data::SlotTable by_id_;
  data::Arena arena_;
  uint64_t merged_ = 0;
  std::string joined_;
  std::string line_;
};

// Queries stay in memory, since splits compare them.
class QueryStore {
 public:
  // As DocumentStore::Add.
  StoredText Add(std::string_view id, std::string_view text);

  const data::Texts& texts() const { return texts_; }
  uint64_t merged() const { return merged_; }

 private:
  data::Texts texts_;
  data::SlotTable by_text_;
  uint64_t merged_ = 0;
};

}  // namespace tandem::import_data
