#include "text/models/token_table.h"

#include <bit>
#include <cstring>

namespace tandem::text {

TokenTable::TokenTable(size_t count) : slots_(std::bit_ceil(2 * count + 1)) {}

TokenTable::TokenTable(const Vocabulary& vocabulary) : TokenTable(vocabulary.count()) {
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const auto value = static_cast<int32_t>(id);
    const std::string_view token = vocabulary.token(value);
    if (token.empty()) continue;
    if (const int32_t other = Add(token, value); other >= 0) {
      vocabulary.FailTwoIds(token, other, value);
    }
  }
}

// Multiplies eight bytes at a time; the upper half mixes down, so that all bits count.
uint64_t TokenTable::HashOf(std::string_view token) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15U;
  uint64_t hash = token.size() * kMultiplier;
  const auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 29;
  };
  const char* p = token.data();
  size_t left = token.size();
  for (; left >= 8; left -= 8, p += 8) {
    uint64_t word = 0;
    std::memcpy(&word, p, 8);
    mix(word);
  }
  uint64_t rest = 0;
  for (size_t i = 0; i < left; ++i) rest |= uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  mix(rest);
  return hash ^ hash >> 32;
}

size_t TokenTable::Probe(std::string_view token, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash >> 32);
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.id < 0) return at;
    if (slot.hash == tag && slot.length == token.size() &&
        std::memcmp(bytes_.data() + slot.offset, token.data(), token.size()) == 0) {
      return at;
    }
  }
}

int32_t TokenTable::Add(std::string_view token, int32_t id) {
  const uint64_t hash = HashOf(token);
  Slot& slot = slots_[Probe(token, hash)];
  if (slot.id >= 0) return slot.id;
  slot = {static_cast<uint32_t>(hash >> 32), id, static_cast<uint32_t>(bytes_.size()),
          static_cast<uint32_t>(token.size())};
  bytes_ += token;
  return -1;
}

}  // namespace tandem::text
