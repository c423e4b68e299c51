// Keeps the ids of words that a thread has met lately, so that a frequent word costs one look-up.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace tandem::text {

// A word's first 16 bytes, zeros after its end.
struct WordKey {
  static constexpr size_t kMaxBytes = 16;
  uint64_t low, high;

  // Reads 16 bytes from `word` whatever its length; see kWordPadding.
  static WordKey Of(std::string_view word) {
    static constexpr auto kMasks = [] {
      std::array<std::array<uint64_t, 2>, kMaxBytes + 1> masks{};
      for (size_t length = 0; length <= kMaxBytes; ++length) {
        for (size_t i = 0; i < length; ++i) masks[length][i / 8] |= uint64_t{0xFF} << (i % 8 * 8);
      }
      return masks;
    }();
    WordKey key;
    std::memcpy(&key.low, word.data(), 8);
    std::memcpy(&key.high, word.data() + 8, 8);
    key.low &= kMasks[word.size()][0];
    key.high &= kMasks[word.size()][1];
    return key;
  }
};

// Direct-mapped: a new word takes the place of the old one. Holds words of at most 16 bytes and at
// most 11 ids, so that an entry is one cache line. It never changes what a word's ids are.
class WordCache {
 public:
  struct alignas(64) Entry {
    uint64_t low = 0, high = 0;
    uint8_t length = 0;  // of the word in bytes; 0: free
    uint8_t count = 0;   // of ids
    std::array<int32_t, 11> ids;
  };

  WordCache() : entries_(kEntries) {}

  // The only place where the word may be; Holds says whether it is there.
  Entry& Place(const WordKey& key) {
    const uint64_t mixed = (key.low ^ (key.high * 0x9E3779B97F4A7C15U)) * 0xD6E8FEB86659FD93U;
    return entries_[mixed >> (64 - kEntryBits)];
  }
  static bool Holds(const Entry& entry, const WordKey& key, size_t length) {
    return entry.low == key.low && entry.high == key.high && entry.length == length;
  }
  // Does nothing when there are too many ids.
  static void Store(const WordKey& key, size_t length, std::span<const int32_t> ids, Entry* entry) {
    if (ids.size() > entry->ids.size()) return;
    entry->low = key.low;
    entry->high = key.high;
    entry->length = static_cast<uint8_t>(length);
    entry->count = static_cast<uint8_t>(ids.size());
    std::copy(ids.begin(), ids.end(), entry->ids.begin());
  }

 private:
  static constexpr int kEntryBits = 13;  // 512 KiB: stays in a core's second-level cache
  static constexpr size_t kEntries = size_t{1} << kEntryBits;
  std::vector<Entry> entries_;
};

// Appends the ids of a word: those that the cache holds, or those that cut(word, ids) appends,
// which the cache then keeps where they fit. `word` is padded (kWordPadding).
template <typename Cut>
void AppendCached(std::string_view word, WordCache* cache, std::vector<int32_t>* ids,
                  const Cut& cut) {
  if (word.size() > WordKey::kMaxBytes) {
    cut(word, ids);
    return;
  }
  const WordKey key = WordKey::Of(word);
  WordCache::Entry& entry = cache->Place(key);
  if (WordCache::Holds(entry, key, word.size())) {
    ids->insert(ids->end(), entry.ids.begin(), entry.ids.begin() + entry.count);
    return;
  }
  const size_t old_size = ids->size();
  cut(word, ids);
  WordCache::Store(key, word.size(), std::span<const int32_t>(*ids).subspan(old_size), &entry);
}

}  // namespace tandem::text
