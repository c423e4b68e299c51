// Batches that can teach nothing, since none of their queries has an allowed negative.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "train/setup/trainer.h"

namespace tandem::train {

// Why such a batch teaches nothing, and what to do; `who` is "its batch has".
std::string EmptyBatchText(std::string_view who);

struct EmptyBatches {
  uint64_t empty = 0;
  uint64_t batches = 0;  // that were looked at
};

// Looks at the batches of the first epoch, or of the run where that is shorter; the sampler is then
// where it was. Orders that learn from batches hear nothing of these, and documents at random stand
// for mined ones. None are empty under an objective that needs no negatives, or that compares the
// labelled documents of a query with each other, where batches have some.
EmptyBatches CountEmptyBatches(const Trainer& trainer, const RunPlan& plan);

// Whether no query of the batch has an allowed negative, where the objective needs some.
bool IsEmpty(const BatchMaker& batches, const sampling::Batch& batch);

}  // namespace tandem::train
