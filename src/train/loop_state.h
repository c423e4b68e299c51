// Where a run stands, besides weights, optimizer, sampler and observers.
#pragma once

#include <cstdint>

namespace tandem::train {

struct LoopState {
  int64_t step = 0;     // optimizer steps done
  int64_t queries = 0;  // seen in training, with repetition
  int64_t tokens = 0;
  double epoch = 0;            // `queries` as a multiple of the number of training queries
  bool stopped_early = false;  // an observer ended the run before its last step
};

}  // namespace tandem::train
