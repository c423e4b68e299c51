// Measures the memory and the disk space that a run needs, by doing what the run does.
#pragma once

#include <cstdint>

#include "train/setup/trainer.h"

namespace tandem::train {

// Bytes, if nothing else is said. Tensors are counted exactly.
struct MemoryNeed {
  uint64_t parameters = 0;         // that are trained
  uint64_t frozen = 0;             // the others, as they are held; large ones are in mapped files
  uint64_t gradients = 0;          // after a step of the largest batch
  uint64_t optimizer = 0;          // what the optimizer keeps: moments
  uint64_t optimizer_touched = 0;  // of it: rows of tables that no batch reads take no memory
  uint64_t step = 0;               // most at once in that step: activations, gradients, scratch
  uint64_t resident = 0;           // most that the process has held, program and data included
  // Of a run on a device: what its tensors took there at most, and the memory that it has.
  uint64_t device = 0;
  uint64_t device_total = 0;
  int64_t largest_batch_tokens = 0;
  double step_seconds = 0;  // of a usual step, the optimizer's update included
  int64_t step_tokens = 0;
};

// Makes steps as the run would (the first batches, then the batch with the most tokens), lets the
// optimizer update every row that the run's texts read, and validates one window. The model and the
// optimizer of `trainer` must not be used afterwards.
MemoryNeed MeasureMemoryNeed(Trainer& trainer, const RunPlan& plan);

struct DiskNeed {
  uint64_t checkpoint = 0;  // one of them
  uint64_t best = 0;        // weights of a best validation
  uint64_t model = 0;       // what the run leaves: all weights, and adapters beside them
  uint64_t records = 0;     // of all passes (sampling/), by the passes' expected lengths
  uint64_t mining = 0;      // embeddings of a round that are not kept in memory
  uint64_t run = 0;         // the whole run folder at most, a checkpoint that is being written too
  // What the run folder has at some time for sure, where nothing interrupts the run.
  uint64_t least = 0;
  uint64_t checkpoints_at_once = 1;  // in it
  bool best_kept = false;            // a validation keeps the best weights
};
DiskNeed DiskNeedOf(const Trainer& trainer, const RunPlan& plan);

}  // namespace tandem::train
