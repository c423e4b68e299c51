// Measures the memory and the disk space that a run needs, by making steps as the run does.
#pragma once

#include <cstdint>

#include "train/setup/trainer.h"

namespace tandem::train {

// Numbers are bytes if nothing else is said. Tensors are counted exactly.
struct MemoryNeed {
  uint64_t parameters = 0;         // trained parameters
  uint64_t frozen = 0;             // frozen parameters; large ones are in mapped files
  uint64_t gradients = 0;          // after a step of the largest batch
  uint64_t optimizer = 0;          // the optimizer's state, such as moments
  uint64_t optimizer_touched = 0;  // part of it that takes memory: table rows of tokens in the data
  uint64_t step = 0;               // peak of that step: activations, gradients, scratch
  uint64_t resident = 0;           // peak of the whole process, program and data included
  // For a run on a GPU: the peak memory of its tensors there, and the GPU's memory.
  uint64_t device = 0;
  uint64_t device_total = 0;
  int64_t largest_batch_tokens = 0;
  // Of a usual step, with the optimizer's update. Of its batches two are timed at most
  // (train.accumulate), and the others count as long.
  double step_seconds = 0;
  double timed_seconds = 0;
  int64_t timed_tokens = 0;
  double validation_seconds = 0;  // of one validation, from a sample of its texts
};

// Makes two small steps, notes what follows and about how long it takes, and makes two steps as the
// run would: of the batch with the most tokens, and of a usual one. Lets the optimizer update every
// row that the run's texts read, does the beginning of a validation, and encodes some of its texts.
// The model and the optimizer of `trainer` must not be used afterwards.
MemoryNeed MeasureMemoryNeed(Trainer& trainer, const RunPlan& plan);

struct DiskNeed {
  uint64_t checkpoint = 0;  // one checkpoint
  uint64_t best = 0;        // the best weights that a validation keeps
  uint64_t model = 0;       // the model that the run leaves: all weights, and adapters
  uint64_t records = 0;     // records of all epochs (sampling/), by expected epoch lengths
  uint64_t mining = 0;      // embeddings of a mining round, if they are not kept in memory
  uint64_t run = 0;         // peak of the whole run folder, with a checkpoint in writing
  // A size that the run folder surely reaches at some time if nothing interrupts the run.
  uint64_t least = 0;
  uint64_t checkpoints_at_once = 1;  // most checkpoints that are there at once
  bool best_kept = false;            // whether a validation keeps the best weights
};
DiskNeed DiskNeedOf(const Trainer& trainer, const RunPlan& plan);

}  // namespace tandem::train
