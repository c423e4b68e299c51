// A running hash by which data, models and settings are told apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/hashes/text_hash.h"

namespace tandem {

// Depends on the order and on the boundaries of what is added; the same on every machine.
class RunningHash {
 public:
  void Add(uint64_t value) {
    const uint64_t pair[2] = {hash_, value};
    hash_ = TextHash({reinterpret_cast<const char*>(pair), sizeof pair});
  }
  void Add(std::string_view text) { Add(TextHash(text)); }
  void Add(double value) { AddBytes(&value, sizeof value); }
  void AddBytes(const void* bytes, size_t size) {
    Add(std::string_view(static_cast<const char*>(bytes), size));
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

}  // namespace tandem
