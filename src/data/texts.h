// Ids and texts of a corpus or of queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "data/arena.h"
#include "data/slot_table.h"

namespace tandem::data {

// Ids and texts in file order. A document's text is title + " " + text where there is a title.
// A copy shares the ids and texts of its original, so that a corpus is in memory once, whoever uses
// it. Views stay valid as long as one of the copies.
class Texts {
 public:
  size_t size() const { return content_ == nullptr ? 0 : content_->ids.size(); }
  std::string_view id(size_t index) const { return content_->ids[index]; }
  std::string_view text(size_t index) const { return content_->texts[index]; }
  std::optional<uint32_t> Find(std::string_view id) const;

  // False, and nothing is added, when the id is there already. Throws std::length_error beyond
  // 2^32 - 1 texts, and std::logic_error where a copy shares the texts.
  bool Add(std::string_view id, std::string_view text);

 private:
  struct Content {
    Arena arena;
    std::vector<std::string_view> ids;
    std::vector<std::string_view> texts;
    SlotTable index;
  };
  std::shared_ptr<Content> content_;  // null: no texts
};

}  // namespace tandem::data
