// Where a run stands, besides weights, optimizer and sampler.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace tandem::train {

struct LoopState {
  int64_t step = 0;     // optimizer steps done
  int64_t queries = 0;  // seen in training, with repetition
  int64_t tokens = 0;
  double epoch = 0;     // the sampler's pass of the last batch, from 0
  double loss_sum = 0;  // of the steps since the last line of metrics.jsonl
  int64_t loss_steps = 0;
  int64_t false_negatives = 0;  // filtered since the last line of metrics.jsonl
  int64_t validated_step = 0;   // the last step that was validated
  int64_t best_step = 0;        // 0: none yet
  double best_value = 0;
  int64_t validations_without_improvement = 0;
  bool stopped_early = false;
  uint64_t metrics_bytes = 0;  // of metrics.jsonl when this was saved
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoopState, step, queries, tokens, epoch, loss_sum, loss_steps,
                                   false_negatives, validated_step, best_step, best_value,
                                   validations_without_improvement, stopped_early, metrics_bytes)

}  // namespace tandem::train
