// Computes a lower bound of the memory that a run needs, before its first step.
//
// `train --check` makes whole steps and so knows more (train/checks/memory_need.h), but a step that
// does not fit ends the process. Instead, a small part of the largest planned batch is encoded here
// with its graph. The memory that this keeps for the backward pass grows with the tokens; a second,
// smaller part tells how much of it does. Memory that only the backward pass takes is not counted,
// so that the run will take more than this.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/process/memory_limits.h"
#include "train/setup/trainer.h"

namespace tandem::train {

struct LeastMemory {
  HeldMemory before;       // model, data, token ids and packed weights, before the forward pass
  uint64_t optimizer = 0;  // state that the optimizer has mapped and not written to yet
  uint64_t gradients = 0;  // of all parameters but tables
  uint64_t pass = 0;       // memory that the forward pass of the largest batch, or chunk, keeps
  uint64_t scores = 0;     // scores of the largest batch, with masks and gradient
  double per_token = 0;    // bytes of `pass` for each token
  // This process's part of the largest batch.
  int64_t queries = 0;
  int64_t tokens = 0;
  int64_t chunk_tokens = 0;  // most tokens of a chunk; 0: the batch is not split
  bool accumulates = false;  // a step has several batches

  // The backward pass frees the memory of the forward pass while it makes the gradients. With
  // several batches or chunks, the gradients of one are in memory during the forward pass of the
  // next. With chunks, the scores have been freed by then.
  uint64_t step() const {
    if (chunk_tokens > 0 && chunk_tokens < tokens) return std::max(scores, pass + gradients);
    return accumulates ? pass + scores + gradients : std::max(pass + scores, gradients);
  }
  uint64_t total() const { return before.held + optimizer + step(); }
};

// Computes the bound for a run on the CPU; for a run on a GPU, all fields but `before` are 0.
// Encodes without changing model, sampler or states.
LeastMemory LeastMemoryOf(const Trainer& trainer, const RunPlan& plan);

}  // namespace tandem::train
