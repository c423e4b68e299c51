#include "train/checks/memory_need.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/log.h"
#include "base/process/memory.h"
#include "base/progress.h"
#include "optim/gradients.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/device.h"
#include "tensor/memory/allocation_count.h"
#include "train/checks/out_of_memory.h"
#include "train/checks/planned_batches.h"
#include "train/run/checkpoint.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;

// The number of planned batches that are searched for the largest one. An epoch of a million
// queries has about this many, and later batches differ little from these.
constexpr int64_t kMostBatches = 20000;

// Batches of a measured step. The second one takes the most memory: its activations come to the
// gradients of the first. A third takes what the second did.
constexpr int64_t kMostParts = 2;

int64_t MeasuredParts(const Trainer& trainer) {
  return std::min(kMostParts, trainer.recipe().train.accumulate);
}

struct TakenStep {
  int64_t tokens = 0;
  double seconds = 0;         // of its batches
  double update_seconds = 0;  // of the clipping and the optimizer
};

double SecondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

// Makes a step of so many equal batches as the training loop does, with learning rate 0.
TakenStep TakeStep(const Trainer& trainer, const std::vector<model::NamedParameter>& parameters,
                   const sampling::Batch& plan, int64_t parts) {
  const Clock::time_point start = Clock::now();
  optim::ClearGradients(parameters);
  TakenStep taken;
  const config::TrainRecipe& recipe = trainer.recipe().train;
  const ResolvedRun& run = trainer.inputs.run;
  for (int64_t part = 0; part < parts; ++part) {
    const TrainingBatch batch = trainer.batches.Make(plan);
    WithMemoryAdvice(
        run.device,
        {.queries = batch.queries, .tokens = batch.tokens(), .chunk_tokens = recipe.chunk_tokens},
        [&] {
          trainer.step->ForwardBackward(trainer.model(), batch, trainer.objective, trainer.states,
                                        {.forward = {.precision = run.precision, .training = true},
                                         .weights_stay = recipe.accumulate > 1});
        });
    taken.tokens += batch.tokens();
  }
  const Clock::time_point update = Clock::now();
  optim::GradientNorm(parameters);
  trainer.optimizer->Step(0, 1);
  taken.seconds = SecondsBetween(start, update);
  taken.update_seconds = SecondsBetween(update, Clock::now());
  return taken;
}

// Returns the first `rows` queries of a batch, with their documents.
sampling::Batch FirstRows(const sampling::Batch& batch, size_t rows) {
  const size_t queries = batch.rows();
  if (rows >= queries) return batch;
  sampling::Batch first{.epoch = batch.epoch};
  const auto take = [](auto& to, const auto& from, size_t begin, size_t end) {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
              from.begin() + static_cast<std::ptrdiff_t>(end));
  };
  take(first.queries, batch.queries, 0, rows);
  take(first.documents, batch.documents, 0, rows);
  take(first.documents, batch.documents, queries, batch.extra_starts[rows]);
  for (size_t row = 0; row <= rows; ++row) {
    const size_t start = batch.extra_starts[row] - queries + rows;
    first.extra_starts.push_back(static_cast<uint32_t>(start));
  }
  if (!batch.weights.empty()) take(first.weights, batch.weights, 0, rows);
  return first;
}

// Makes two small steps, of which the first makes what is made only once, and says what is going to
// be measured and about how long it takes by the second one.
void TellOfSteps(const Trainer& trainer, const std::vector<model::NamedParameter>& parameters,
                 const PlannedBatches& batches) {
  // Queries of a small step: enough for a time that says something.
  constexpr size_t kSmall = 8;
  const sampling::Batch small = FirstRows(batches.largest, kSmall);
  TakeStep(trainer, parameters, small, 1);
  const TakenStep taken = TakeStep(trainer, parameters, small, 1);
  const int64_t parts = MeasuredParts(trainer);
  // Two steps of about as many tokens each.
  const double seconds =
      2 * (taken.update_seconds + taken.seconds * static_cast<double>(parts) *
                                      static_cast<double>(batches.largest_tokens) /
                                      static_cast<double>(std::max<int64_t>(1, taken.tokens)));
  const std::string validation =
      trainer.validator == nullptr
          ? ""
          : fmt::format(
                "; then {} validation queries are encoded, and some of what else a validation "
                "encodes, for a few seconds",
                trainer.validator->queries());
  Note(fmt::format(
      "measuring time and memory: two steps{} of at most {} tokens, whose results are thrown away, "
      "take about {}{}",
      parts < trainer.recipe().train.accumulate ? fmt::format(" of {} batches", parts) : "",
      parts * batches.largest_tokens, FormatDuration(seconds), validation));
}

uint64_t GradientBytes(const std::vector<model::NamedParameter>& parameters) {
  uint64_t bytes = 0;
  for (const model::NamedParameter& parameter : parameters) {
    if (const tensor::SparseRows* rows = parameter.value.row_grad()) {
      bytes += rows->values.nbytes() + rows->rows.nbytes();
    } else if (const tensor::Tensor gradient = parameter.value.grad(); gradient.defined()) {
      bytes += gradient.nbytes();
    }
  }
  return bytes;
}

// Measures the memory of a step of the largest batch, and the time of a usual step.
void MeasureSteps(Trainer& trainer, const std::vector<model::NamedParameter>& parameters,
                  const PlannedBatches& batches, MemoryNeed& need) {
  tensor::AllocationCount count;
  TellOfSteps(trainer, parameters, batches);
  const int64_t parts = MeasuredParts(trainer);
  count.ResetMost();
  const tensor::DeviceMemory before = tensor::MemoryOf(trainer.inputs.run.device);
  TakeStep(trainer, parameters, batches.largest, parts);
  const tensor::DeviceMemory after = tensor::MemoryOf(trainer.inputs.run.device);
  need.step = trainer.inputs.run.device.is_cpu() ? count.most() : after.most_used - before.used;
  need.device = after.most_used;
  need.device_total = after.total;
  need.gradients = GradientBytes(parameters);
  // After the largest step, whose memory it uses again: steps of a run seldom take new memory.
  const TakenStep timed = TakeStep(trainer, parameters, trainer.sampler->Next(), parts);
  need.timed_tokens = timed.tokens;
  need.timed_seconds = timed.seconds + timed.update_seconds;
  need.step_seconds = timed.seconds * static_cast<double>(trainer.recipe().train.accumulate) /
                          static_cast<double>(parts) +
                      timed.update_seconds;
}

// Makes optimizer steps with zero gradients for these rows of a table, so that the optimizer writes
// to its state of the rows. Takes the rows in slices that need less memory than the activations of
// a step.
void TouchRows(const Trainer& trainer, const std::vector<model::NamedParameter>& parameters,
               const tensor::Tensor& table, std::span<const int64_t> rows) {
  constexpr size_t kSlice = 1024;
  for (size_t begin = 0; begin < rows.size(); begin += kSlice) {
    const std::span<const int64_t> slice =
        rows.subspan(begin, std::min(kSlice, rows.size() - begin));
    const auto count = static_cast<int64_t>(slice.size());
    optim::ClearGradients(parameters);
    const tensor::Tensor numbers = tensor::Empty({count}, tensor::kLong);
    std::memcpy(numbers.data_ptr(), slice.data(), slice.size_bytes());
    tensor::AddRowGradient(
        table, {.rows = tensor::MovedTo(numbers, table.device()),
                .values = tensor::Zeros({count, table.size(1)}, table.dtype(), table.device())});
    trainer.optimizer->Step(0, 1);
  }
}

// Counts the bytes of the optimizer's state. Of a table's state, only the rows that the run reads
// count as touched.
void CountOptimizer(const Trainer& trainer, const std::vector<model::NamedParameter>& tables,
                    const PlannedBatches& batches, MemoryNeed& need) {
  for (const optim::StateTensor& state : trainer.optimizer->State()) {
    need.optimizer += state.value.nbytes();
    const auto table = std::find_if(tables.begin(), tables.end(), [&](const auto& parameter) {
      return state.name.ends_with("/" + parameter.name) &&
             state.value.sizes() == parameter.value.sizes();
    });
    // On a GPU, memory is taken for whole tables.
    if (table == tables.end() || !trainer.inputs.run.device.is_cpu()) {
      need.optimizer_touched += state.value.nbytes();
    } else {
      need.optimizer_touched += batches.RowsOf(trainer.model(), table->name).size() *
                                static_cast<size_t>(state.value.size(1)) * sizeof(float);
    }
  }
}

// The bytes of all the sampler's records (the folder sampling/) at the end of the run; 0 for a
// sampler without records (sampling/audit/audit_file.h).
uint64_t RecordBytes(const Trainer& trainer, const RunPlan& plan) {
  if (!trainer.sampler->Prunes()) return 0;
  const sampling::Examples& examples = trainer.inputs.texts.examples;
  const uint64_t queries = examples.size();
  uint64_t pairs = 0;
  for (size_t q = 0; q < queries; ++q) {
    pairs += trainer.objective.needs.graded_own ? examples.judged(q).size()
                                                : examples.positives(q).size();
  }
  const auto batches = static_cast<double>(plan.steps * trainer.recipe().train.accumulate);
  const double passes = batches / static_cast<double>(trainer.sampler->BatchesIn(1));
  const auto whole = static_cast<uint64_t>(passes) + 1;
  // Each query has 8 bytes, whether it is drawn or left out.
  const uint64_t first_scores = 4 * trainer.first_scores.size();
  return first_scores +
         whole * (4 * queries + 4 * pairs + 8 * std::max(queries, trainer.sampler->QueriesIn(0)));
}

// The number of checkpoints that a run saves if nothing interrupts it.
uint64_t CheckpointsOf(const RunPlan& plan) {
  if (plan.by_progress && plan.checkpoint_share > 0) {
    return static_cast<uint64_t>(std::max(1.0, 1 / plan.checkpoint_share));
  }
  if (plan.checkpoint_every <= 0) return 1;
  return static_cast<uint64_t>((plan.steps + plan.checkpoint_every - 1) / plan.checkpoint_every);
}

}  // namespace

MemoryNeed MeasureMemoryNeed(Trainer& trainer, const RunPlan& plan) {
  const PlannedBatches batches = LookAtBatches(trainer, plan, kMostBatches);
  const std::vector<model::NamedParameter> parameters =
      model::TrainedOf(trainer.model().Parameters());
  MemoryNeed need{.largest_batch_tokens = batches.largest_tokens};
  for (const auto& parameter : trainer.model().Parameters()) {
    (parameter.trained() ? need.parameters : need.frozen) += parameter.value.nbytes();
  }
  MeasureSteps(trainer, parameters, batches, need);
  std::vector<model::NamedParameter> tables;
  for (const auto& parameter : parameters) {
    if (parameter.value.row_grad() != nullptr) tables.push_back(parameter);
  }
  // A validation runs while the gradients of the step before it are in memory. That is so in
  // training too.
  if (trainer.validator != nullptr) {
    trainer.validator->TryBeginning(trainer.model(), trainer.states);
    need.validation_seconds = trainer.validator->EstimateSeconds(trainer.model(), trainer.states);
  }
  for (const auto& table : tables) {
    TouchRows(trainer, parameters, table.value, batches.RowsOf(trainer.model(), table.name));
  }
  CountOptimizer(trainer, tables, batches, need);
  need.resident = MostResidentMemory();
  return need;
}

DiskNeed DiskNeedOf(const Trainer& trainer, const RunPlan& plan) {
  DiskNeed need;
  for (const auto& parameter : SavedParameters(trainer.model(), trainer.states)) {
    need.best += parameter.value.nbytes();
  }
  need.checkpoint = need.best;
  for (const auto& state : trainer.optimizer->State()) need.checkpoint += state.value.nbytes();
  for (const sampling::StateArray& array : trainer.sampler->State().arrays) {
    need.checkpoint += std::visit(
        [](const auto& values) { return values.size() * sizeof(values[0]); }, array.values);
  }
  need.records = RecordBytes(trainer, plan);
  if (trainer.miner) need.mining = trainer.miner->ScratchBytes(trainer.model().embedding_width());
  const bool adapted = trainer.model().adapted();
  uint64_t most_of_model = adapted ? need.best : 0;  // the adapters are saved too
  need.model = most_of_model;
  for (const auto& parameter : trainer.model().Parameters()) {
    need.model += parameter.value.nbytes();
    // Where adapters are merged into weights of a shorter type, the merged weights are written in
    // float32.
    const uint64_t in_float32 = sizeof(float) * static_cast<uint64_t>(parameter.value.numel());
    most_of_model += adapted ? in_float32 : parameter.value.nbytes();
  }
  const auto kept = static_cast<uint64_t>(plan.keep_checkpoints);
  need.best_kept = trainer.validator != nullptr;
  const uint64_t bests = need.best_kept ? kept + 1 : 0;
  need.run =
      (kept + 1) * need.checkpoint + bests * need.best + most_of_model + need.records + need.mining;
  // The model is written after the last checkpoint has replaced an earlier one.
  const uint64_t planned = CheckpointsOf(plan);
  need.checkpoints_at_once = std::min(kept + 1, planned);
  need.least = (need.best_kept ? need.best : 0) +
               std::max(need.checkpoints_at_once * need.checkpoint,
                        std::min(kept, planned) * need.checkpoint + need.model);
  return need;
}

}  // namespace tandem::train
