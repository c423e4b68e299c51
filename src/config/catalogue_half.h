// The other half of a catalogue: what its entries have in another target, which needs libraries
// that the catalogue does without. OTHER_HALF of cmake/TandemCatalogue.cmake writes its table.
#pragma once

#include <span>

namespace tandem::config {

// Returns what the entry `info` has in the other half, whose structs point to their entry as
// `info`; null where it has nothing there.
template <typename Half, typename Info>
const Half* FindHalf(std::span<const Half* const> halves, const Info& info) {
  for (const Half* half : halves) {
    if (half->info == &info) return half;
  }
  return nullptr;
}

}  // namespace tandem::config
