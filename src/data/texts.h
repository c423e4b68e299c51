// Ids and texts of a corpus or of queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/arena.h"
#include "data/slot_table.h"

namespace tandem::data {

// Ids and texts in file order. A document's text is title + " " + text where there is a title.
// Bytes live in one arena: views stay valid as long as the object or what it was moved to.
class Texts {
 public:
  size_t size() const { return ids_.size(); }
  std::string_view id(size_t index) const { return ids_[index]; }
  std::string_view text(size_t index) const { return texts_[index]; }
  std::optional<uint32_t> Find(std::string_view id) const;

  // False, and nothing is added, when the id is there already. Throws std::length_error beyond
  // 2^32 - 1 texts.
  bool Add(std::string_view id, std::string_view text);

 private:
  Arena arena_;
  std::vector<std::string_view> ids_;
  std::vector<std::string_view> texts_;
  SlotTable index_;
};

}  // namespace tandem::data
