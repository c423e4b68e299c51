// The state that a sampler needs to continue where another one stopped.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json/json.h"

namespace tandem::sampling {

// Numbers of one kind under a name; a checkpoint keeps them as a tensor of one dimension.
struct StateArray {
  std::string name;
  std::variant<std::vector<float>, std::vector<uint32_t>, std::vector<uint8_t>> values;
};

struct SamplerState {
  Json values;                     // few numbers
  std::vector<StateArray> arrays;  // long lists of numbers; often none

  template <typename T>
  void Add(std::string name, std::vector<T> array) {
    arrays.push_back({std::move(name), std::move(array)});
  }

  bool Has(std::string_view name) const;
  // The array of that name with `size` numbers (any number of them where `size` is kAnySize).
  // Throws ModelError where there is none, or one of another type or size.
  static constexpr size_t kAnySize = static_cast<size_t>(-1);
  std::span<const float> Floats(std::string_view name, size_t size = kAnySize) const;
  std::span<const uint32_t> Integers(std::string_view name, size_t size = kAnySize) const;
  std::span<const uint8_t> Bytes(std::string_view name, size_t size = kAnySize) const;
};

}  // namespace tandem::sampling
