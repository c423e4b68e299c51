// Finds batches that can teach nothing, because none of their queries has an allowed negative.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "train/setup/trainer.h"

namespace tandem::train {

// Says why such a batch teaches nothing, and what to do. `who` begins the sentence ("its batch
// has").
std::string EmptyBatchText(std::string_view who);

struct EmptyBatches {
  uint64_t empty = 0;
  uint64_t batches = 0;  // number of batches that were checked
};

// Checks the batches of the first epoch, or of the whole run if that is shorter, and then restores
// the sampler's state. Samplers that learn from batches get no feedback for these, and random
// documents stand in for mined ones. No batch counts as empty if the objective needs no negatives,
// or if it compares the labelled documents of a query with each other and the batch has some.
EmptyBatches CountEmptyBatches(const Trainer& trainer, const RunPlan& plan);

// Whether no query of the batch has an allowed negative although the objective needs negatives.
bool IsEmpty(const BatchMaker& batches, const sampling::Batch& batch);

}  // namespace tandem::train
