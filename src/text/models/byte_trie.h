// Maps byte strings to numbers; a look-up walks down the trie one byte at a time.
//
// A double array (Aoe 1989) in the form where a child's place is base XOR byte and a node keeps
// only its own byte (Yata et al. 2007): a node takes 8 bytes, a step reads memory once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tandem::text {

class ByteTrie {
 public:
  static constexpr int32_t kNone = -1;
  static constexpr uint32_t kRoot = 0;
  // Values must be below this (23 bits of a node less one for "no value").
  static constexpr int32_t kMaxValue = (1 << 22) - 1;

  struct Entry {
    std::string_view key;
    int32_t value;  // [0, kMaxValue]
  };

  // A trie without keys.
  ByteTrie();
  // `entries` ascending by key (bytes), no key twice.
  explicit ByteTrie(std::span<const Entry> entries);

  // Moves `node` along `byte`. Returns false, and leaves `node` as it is, where no key goes on with
  // this byte.
  bool Step(uint32_t* node, unsigned char byte) const {
    const uint32_t next = nodes_[*node].base ^ byte;
    if ((nodes_[next].info & kByteMask) != byte) return false;
    *node = next;
    return true;
  }
  // The value of the key that ends at `node`, or kNone.
  int32_t Value(uint32_t node) const {
    return static_cast<int32_t>(nodes_[node].info >> kByteBits) - 1;
  }

  struct Match {
    size_t length = 0;
    int32_t value = kNone;
  };
  // The longest key that `text` starts with, walking on from `node`; kNone where there is none.
  // A key that ends at `node` itself does not count.
  Match Longest(uint32_t node, std::string_view text) const {
    Match best;
    for (size_t i = 0; i < text.size(); ++i) {
      if (!Step(&node, static_cast<unsigned char>(text[i]))) break;
      const int32_t value = Value(node);
      if (value != kNone) best = {i + 1, value};
    }
    return best;
  }

  // The value of `key`, or kNone.
  int32_t Find(std::string_view key) const {
    uint32_t node = kRoot;
    for (const char c : key) {
      if (!Step(&node, static_cast<unsigned char>(c))) return kNone;
    }
    return Value(node);
  }

 private:
  friend class ByteTrieBuilder;
  static constexpr uint32_t kByteBits = 9;
  static constexpr uint32_t kByteMask = (1U << kByteBits) - 1;
  static constexpr uint32_t kFree = kByteMask;  // no byte equals it

  struct Node {
    uint32_t base = 0;
    uint32_t info = kFree;  // (value + 1) << 9 | the byte that leads here
  };
  std::vector<Node> nodes_;
};

}  // namespace tandem::text
