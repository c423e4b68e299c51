// Precompiled character maps as tools/golden/charsmap.py makes them: every node of the double array
// has a block of 256 units of its own.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::text {

class CharsmapBuilder {
 public:
  void Add(std::string_view key, const std::string& value) {
    const auto [place, is_new] = offsets_.try_emplace(value, values_.size());
    if (is_new) values_ += value + '\0';
    Node* node = &root_;
    for (const char byte : key) {
      auto& child = node->children[static_cast<unsigned char>(byte)];
      if (!child) child = std::make_unique<Node>();
      node = child.get();
    }
    node->value = static_cast<uint32_t>(place->second);
  }

  std::string Build() {
    units_.assign(256, 0);
    Place(0, root_);
    std::string bytes(4 + 4 * units_.size(), '\0');
    const auto size = static_cast<uint32_t>(4 * units_.size());
    std::memcpy(bytes.data(), &size, 4);
    std::memcpy(bytes.data() + 4, units_.data(), size);
    return bytes + values_;
  }

 private:
  struct Node {
    std::map<uint8_t, std::unique_ptr<Node>> children;
    std::optional<uint32_t> value;
  };
  static constexpr uint32_t kLeaf = 1U << 8;
  static constexpr uint32_t kSteps = 1U << 9;
  static constexpr uint32_t kValue = 1U << 31;

  uint32_t AddBlock(uint32_t fill) {
    const auto start = static_cast<uint32_t>(units_.size());
    units_.resize(start + 256, fill);
    return start;
  }

  void Place(uint32_t at, const Node& node) {
    uint32_t base = at & 255;
    if (node.children.empty() && node.value) {
      const auto [block, is_new] = blocks_.try_emplace(*node.value, 0);
      if (is_new) block->second = AddBlock(kValue | *node.value);
      base |= block->second;
    } else {
      base |= AddBlock(0);
      if (node.value) units_[base] = kValue | *node.value;
    }
    units_[at] |= (at ^ base) >> 8 << 10 | kSteps | (node.value ? kLeaf : 0);
    for (const auto& [byte, child] : node.children) {
      units_[base ^ byte] = byte;
      Place(base ^ byte, *child);
    }
  }

  Node root_;
  std::map<std::string, size_t> offsets_;
  std::map<uint32_t, uint32_t> blocks_;  // values -> blocks of keys that no key goes on
  std::string values_;
  std::vector<uint32_t> units_;
};

}  // namespace tandem::text
