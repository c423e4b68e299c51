// A hash table from token strings to ids, made once and looked up often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/models/vocabulary.h"

namespace tandem::text {

class TokenTable {
 public:
  TokenTable() = default;
  // Room for `count` tokens.
  explicit TokenTable(size_t count);
  // All tokens of `vocabulary` that are not empty. Throws ModelError when two ids have the same.
  explicit TokenTable(const Vocabulary& vocabulary);

  // Returns the id that `token` has already, or -1 after adding it. No more tokens than there is
  // room for may be added.
  int32_t Add(std::string_view token, int32_t id);
  // -1 for a token that is not there.
  int32_t Find(std::string_view token) const {
    if (slots_.empty()) return -1;
    return slots_[Probe(token, HashOf(token))].id;
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    int32_t id = -1;  // -1: free
    uint32_t offset = 0, length = 0;
  };
  static uint64_t HashOf(std::string_view token);
  // The slot of `token`, or the free one where it would be.
  size_t Probe(std::string_view token, uint64_t hash) const;

  std::string bytes_;
  std::vector<Slot> slots_;
};

}  // namespace tandem::text
