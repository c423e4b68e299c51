// What tells the inputs of one run from those of another.
#pragma once

#include <cstdint>

#include "train/run/state_visitor.h"

namespace tandem::train {

// A checkpoint keeps those that its run was started with; a resumed run compares.
struct InputFingerprints {
  uint64_t data = 0;     // changes with every id, text, judgement and grade
  uint64_t base = 0;     // of the model that training starts from, and of its tokens
  uint64_t adapter = 0;  // of the adapters of model.adapter; 0: there are none

  void VisitState(StateVisitor visit) {
    visit.Member("data_fingerprint", data, 0);
    visit.Member("base_fingerprint", base, 0);
    visit.Member("adapter_fingerprint", adapter, 0, /*kept=*/adapter != 0);
  }
};

}  // namespace tandem::train
