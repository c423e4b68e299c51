#include "text/models/byte_trie.h"

#include <algorithm>
#include <utility>

namespace tandem::text {

// Places the nodes. An explicit stack keeps a long key from needing deep recursion.
class ByteTrieBuilder {
 public:
  explicit ByteTrieBuilder(std::span<const ByteTrie::Entry> entries) : entries_(entries) {
    AddBlock();
    nodes_[ByteTrie::kRoot].info = kRootByte;
    base_used_[0] = true;  // leaves have base 0, so that no node with children may have it
  }

  std::vector<ByteTrie::Node> Build() {
    std::vector<Range> stack = {{0, entries_.size(), 0, ByteTrie::kRoot}};
    while (!stack.empty()) {
      const Range range = stack.back();
      stack.pop_back();
      Expand(range, &stack);
    }
    return std::move(nodes_);
  }

 private:
  // Entries [first, last) share their first `depth` bytes, which lead to `node`.
  struct Range {
    size_t first, last, depth;
    uint32_t node;
  };
  struct Block {
    uint32_t start;
    int failures;
  };
  // Marks the root's place as taken. No byte leads to the root, so its mark is no byte: 256.
  static constexpr uint32_t kRootByte = 256;
  static constexpr uint32_t kBlockSize = 256;  // base ^ byte stays in the base's block
  static constexpr size_t kOpenBlocks = 16;    // blocks that FindBase still searches
  static constexpr int kMaxFailures = 64;  // searches without success after which a block is full

  void AddBlock() {
    const auto start = static_cast<uint32_t>(nodes_.size());
    nodes_.resize(start + kBlockSize);
    base_used_.resize(start + kBlockSize, false);
    open_.push_back({start, 0});
    if (open_.size() > kOpenBlocks) open_.erase(open_.begin());
  }

  bool IsFree(uint32_t place) const { return nodes_[place].info == ByteTrie::kFree; }

  bool Fits(uint32_t base) const {
    if (base_used_[base]) return false;
    return std::all_of(bytes_.begin(), bytes_.end(),
                       [&](uint32_t byte) { return IsFree(base ^ byte); });
  }

  // A base that no other node has, with free places for all of bytes_.
  uint32_t FindBase() {
    for (size_t i = open_.size(); i-- > 0;) {
      const uint32_t start = open_[i].start;
      for (uint32_t place = start; place < start + kBlockSize; ++place) {
        if (IsFree(place) && Fits(place ^ bytes_.front())) return place ^ bytes_.front();
      }
      if (++open_[i].failures > kMaxFailures) open_.erase(open_.begin() + static_cast<long>(i));
    }
    AddBlock();
    return open_.back().start;
  }

  void Expand(Range range, std::vector<Range>* stack) {
    if (range.first < range.last && entries_[range.first].key.size() == range.depth) {
      nodes_[range.node].info |= static_cast<uint32_t>(entries_[range.first].value + 1)
                                 << ByteTrie::kByteBits;
      ++range.first;
    }
    if (range.first == range.last) return;  // a leaf
    bytes_.clear();
    children_.clear();
    for (size_t i = range.first; i < range.last; ++i) {
      const auto byte = static_cast<unsigned char>(entries_[i].key[range.depth]);
      if (bytes_.empty() || bytes_.back() != byte) {
        bytes_.push_back(byte);
        children_.push_back({i, i, range.depth + 1, 0});
      }
      children_.back().last = i + 1;
    }
    const uint32_t base = FindBase();
    base_used_[base] = true;
    nodes_[range.node].base = base;
    for (size_t i = 0; i < bytes_.size(); ++i) {
      children_[i].node = base ^ bytes_[i];
      nodes_[children_[i].node].info = bytes_[i];
      stack->push_back(children_[i]);
    }
  }

  std::span<const ByteTrie::Entry> entries_;
  std::vector<ByteTrie::Node> nodes_;
  std::vector<bool> base_used_;
  std::vector<Block> open_;
  std::vector<uint32_t> bytes_;
  std::vector<Range> children_;
};

ByteTrie::ByteTrie() : ByteTrie(std::span<const Entry>()) {}

ByteTrie::ByteTrie(std::span<const Entry> entries) : nodes_(ByteTrieBuilder(entries).Build()) {}

}  // namespace tandem::text
