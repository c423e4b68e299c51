// Ids and texts of a corpus or of queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "data/texts/arena.h"
#include "data/texts/slot_table.h"

namespace tandem::data {

// Ids and texts in file order. A document's text is title + " " + text where there is a title; how
// long its title is stays known, for those who write it again.
// A copy shares the ids and texts of its original, so that a corpus is in memory once, whoever uses
// it. Views stay valid as long as one of the copies.
class Texts {
 public:
  size_t size() const { return content_ == nullptr ? 0 : content_->entries.size(); }
  std::string_view id(size_t index) const { return content_->entries[index].id(); }
  std::string_view text(size_t index) const { return content_->entries[index].text(); }
  // The title that `text` begins with, and what follows it. "" and the whole text without one.
  std::string_view title(size_t index) const { return text(index).substr(0, title_bytes(index)); }
  std::string_view body(size_t index) const;
  std::optional<uint32_t> Find(std::string_view id) const;

  // [size()] TextHash of each text. They are made at the first call, on all threads, and shared by
  // all copies; they live as long as one of the copies or what this returns. Do not add texts after
  // it.
  std::shared_ptr<const std::vector<uint64_t>> hashes() const;

  // `text` begins with a title of `title_bytes` bytes and a space after it, if that is not 0.
  // False, and nothing is added, when the id is there already. Throws std::length_error beyond 2^32
  // - 1 texts or for an id or text of more bytes, and std::logic_error where a copy shares the
  // texts or their hashes were asked for.
  bool Add(std::string_view id, std::string_view text, size_t title_bytes = 0);

 private:
  // The text follows the id, so that a corpus of millions takes 16 bytes for each besides both.
  struct Entry {
    const char* at;
    uint32_t id_bytes;
    uint32_t text_bytes;
    std::string_view id() const { return {at, id_bytes}; }
    std::string_view text() const { return {at + id_bytes, text_bytes}; }
  };
  struct Content {
    Arena arena;
    std::vector<Entry> entries;
    std::vector<uint32_t> title_bytes;  // of the texts up to the last one with a title
    SlotTable index;                    // by id
    std::once_flag hashed;
    std::vector<uint64_t> hashes;  // empty until somebody asks
  };
  size_t title_bytes(size_t index) const {
    return index < content_->title_bytes.size() ? content_->title_bytes[index] : 0;
  }

  std::shared_ptr<Content> content_;  // null: no texts
};

}  // namespace tandem::data
