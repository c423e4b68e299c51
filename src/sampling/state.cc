#include "sampling/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"

namespace tandem::sampling {
namespace {

template <typename T>
std::span<const T> Find(const SamplerState& state, std::string_view name, size_t size) {
  for (const StateArray& array : state.arrays) {
    if (array.name != name) continue;
    const auto* values = std::get_if<std::vector<T>>(&array.values);
    if (values != nullptr && (size == SamplerState::kAnySize || values->size() == size)) {
      return *values;
    }
    throw ModelError("the checkpoint", name,
                     "has another size or type than the sampler's of this run; the checkpoint is "
                     "of another run");
  }
  throw ModelError("the checkpoint", name,
                   "is missing in the sampler's state; the checkpoint is of another run");
}

}  // namespace

bool SamplerState::Has(std::string_view name) const {
  return std::any_of(arrays.begin(), arrays.end(),
                     [name](const StateArray& array) { return array.name == name; });
}

std::span<const float> SamplerState::Floats(std::string_view name, size_t size) const {
  return Find<float>(*this, name, size);
}
std::span<const uint32_t> SamplerState::Integers(std::string_view name, size_t size) const {
  return Find<uint32_t>(*this, name, size);
}
std::span<const uint8_t> SamplerState::Bytes(std::string_view name, size_t size) const {
  return Find<uint8_t>(*this, name, size);
}

}  // namespace tandem::sampling
