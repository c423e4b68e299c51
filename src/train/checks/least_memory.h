// The memory that a run is sure to need, known before its first step.
//
// `train --check` makes whole steps and so knows more (train/checks/memory_need.h), but a step that
// does not fit ends the process. Here a small part of the largest planned batch goes forward, with
// its graph; what that keeps for the backward pass grows with the tokens. A second, smaller part
// tells what grows from what does not. What only the backward pass takes is not counted, so that
// this is less than the run will take.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/process/memory_limits.h"
#include "train/setup/trainer.h"

namespace tandem::train {

struct LeastMemory {
  HeldMemory before;       // model, data, token ids and packed weights, before a pass
  uint64_t optimizer = 0;  // what the optimizer keeps and has not written to yet
  uint64_t gradients = 0;  // of parameters that are no tables
  uint64_t pass = 0;       // what a forward pass of the largest batch, or chunk, keeps
  uint64_t scores = 0;     // of the largest batch, with masks and gradient
  double per_token = 0;    // bytes of `pass`
  // Of the largest batch, this process's part of it.
  int64_t queries = 0;
  int64_t tokens = 0;
  int64_t chunk_tokens = 0;  // of a pass at most; 0: the whole batch is one
  bool accumulates = false;  // a step has several batches

  // The backward pass frees what the forward pass has kept while gradients come to be. Those of a
  // batch or chunk are there while the next one goes forward. With chunks, scores are gone by then.
  uint64_t step() const {
    if (chunk_tokens > 0 && chunk_tokens < tokens) return std::max(scores, pass + gradients);
    return accumulates ? pass + scores + gradients : std::max(pass + scores, gradients);
  }
  uint64_t total() const { return before.held + optimizer + step(); }
};

// Of a run on the processor; all 0 but `before` on a device. Encodes without changing model,
// sampler or states.
LeastMemory LeastMemoryOf(const Trainer& trainer, const RunPlan& plan);

}  // namespace tandem::train
