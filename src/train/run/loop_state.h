// The progress of a run, without the states of weights, optimizer, sampler and observers.
#pragma once

#include <cstdint>

namespace tandem::train {

struct LoopState {
  int64_t step = 0;     // optimizer steps done
  int64_t batches = 0;  // batches in these steps
  int64_t queries = 0;  // seen in training, with repetition
  int64_t tokens = 0;
  double epoch = 0;            // the sampler's epochs, with the share of the current one
  double progress = 0;         // the share of the run that is done, in [0, 1]
  double progress_before = 0;  // `progress` before the last step
  int64_t mining_rounds = 0;   // mining rounds done
  bool stopped_early = false;  // an observer ended the run before its last step
};

}  // namespace tandem::train
