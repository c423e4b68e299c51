// The fingerprints that tell the inputs of one run from those of another.
#pragma once

#include <cstdint>

#include "train/run/state_visitor.h"

namespace tandem::train {

// A checkpoint keeps the fingerprints of its run's inputs, and a resumed run compares its own with
// them.
struct InputFingerprints {
  uint64_t data = 0;     // changes with every id, text, judgement and grade
  uint64_t base = 0;     // of the base model, and of the tokens that it makes of the texts
  uint64_t adapter = 0;  // of the adapters of model.adapter; 0: no adapters

  void VisitState(StateVisitor visit) {
    visit.Member("data_fingerprint", data, 0);
    visit.Member("base_fingerprint", base, 0);
    visit.Member("adapter_fingerprint", adapter, 0, /*kept=*/adapter != 0);
  }
};

}  // namespace tandem::train
