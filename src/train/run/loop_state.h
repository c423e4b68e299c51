// Where a run stands, besides weights, optimizer, sampler and observers.
#pragma once

#include <cstdint>

namespace tandem::train {

struct LoopState {
  int64_t step = 0;     // optimizer steps done
  int64_t batches = 0;  // that the steps were made of
  int64_t queries = 0;  // seen in training, with repetition
  int64_t tokens = 0;
  double epoch = 0;     // the sampler's passes that are done, and the share of the one under way
  double progress = 0;  // the share of the run that is done, in [0, 1]
  double progress_before = 0;  // the same before the last step
  int64_t mining_rounds = 0;   // rounds of mining that are done
  bool stopped_early = false;  // an observer ended the run before its last step
};

}  // namespace tandem::train
