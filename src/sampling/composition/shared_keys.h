// Says which queries must not meet in a batch: the keys of texts and documents that draws of an
// epoch may have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sampling/composition/composition.h"
#include "sampling/order.h"
#include "sampling/pairs.h"

namespace tandem::sampling {

class SharedKeys {
 public:
  // Has no keys: all draws may meet.
  SharedKeys() = default;
  SharedKeys(const Pairs& pairs, const PlannedOrder& order);

  BatchKeys Of(const Draw& draw) const {
    if (text_.empty()) return {};
    return {text_[draw.query], document_[draw.document]};
  }
  std::vector<BatchKeys> Of(const std::vector<Draw>& draws) const;

  // An upper bound of the number of an epoch's draws that have one text, or one document.
  size_t most() const { return most_; }

 private:
  // Numbers the groups that two draws and more may have anew; the others have no key.
  void KeepShared(const std::vector<uint32_t>& counts, std::vector<uint32_t>& keys);

  std::vector<uint32_t> text_;      // [queries], or empty: duplicates are allowed
  std::vector<uint32_t> document_;  // [documents]
  size_t most_ = 0;
};

}  // namespace tandem::sampling
