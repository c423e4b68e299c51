#include "data/texts.h"

#include <stdexcept>

#include "data/text_hash.h"

namespace tandem::data {

std::optional<uint32_t> Texts::Find(std::string_view id) const {
  return index_.Find(TextHash(id), [&](uint32_t index) { return ids_[index] == id; });
}

bool Texts::Add(std::string_view id, std::string_view text) {
  if (Find(id)) return false;
  if (ids_.size() >= UINT32_MAX) throw std::length_error("more than 2^32 - 1 texts");
  index_.Insert(TextHash(id), static_cast<uint32_t>(ids_.size()));
  ids_.push_back(arena_.Copy(id));
  texts_.push_back(arena_.Copy(text));
  return true;
}

}  // namespace tandem::data
