#include "train/checks/least_memory.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tensor/core/tensor.h"
#include "tensor/memory/allocation_count.h"
#include "train/checks/planned_batches.h"
#include "train/step/encode_batch.h"

namespace tandem::train {
namespace {

// The number of planned batches that are searched for the largest one: enough to find one of nearly
// the largest size, and few enough to be quick.
constexpr int64_t kBatches = 200;
// Tokens of the sample that the forward pass is measured on. A step has thousands.
constexpr int64_t kSample = 768;
// Bytes for each score: float32, the mask's byte, and the objective's gradient in float64.
constexpr uint64_t kScoreBytes = 4 + 1 + 8;

int64_t UpTo(int64_t count, double share) {
  return std::min(count, static_cast<int64_t>(std::ceil(static_cast<double>(count) * share)));
}

struct Kept {
  int64_t tokens = 0;
  uint64_t bytes = 0;
};

// Measures the memory that the forward pass keeps for the backward pass, for a share of the batch's
// queries and documents.
Kept KeptByForward(const Trainer& trainer, const TrainingBatch& batch,
                   const model::ForwardOptions& options, double share) {
  const TrainingBatch part =
      batch.Part({0, UpTo(batch.queries, share)}, {0, UpTo(batch.documents, share)});
  const tensor::AllocationCount count;
  const tensor::Tensor embeddings = EncodeWhole(trainer.model(), part, options);
  return {part.tokens(), count.now()};
}

// Whether the parameter may be an embedding table. Only the rows of a table that a batch reads get
// a gradient, and the optimizer's state takes memory only for rows that were ever read
// (optim/moments.cc). Gradients would show which parameters are tables, but there are none yet, so
// this accepts every parameter that may be one: a vocabulary has many times more rows than columns.
bool MayBeTable(const model::NamedParameter& parameter) {
  constexpr int64_t kRowsForEachColumn = 8;
  const tensor::Tensor& value = parameter.value;
  return value.dim() == 2 && (parameter.name.find("embed") != std::string::npos ||
                              value.size(0) > kRowsForEachColumn * value.size(1));
}

void CountUpdate(const Trainer& trainer, const PlannedBatches& batches, LeastMemory& least) {
  const std::vector<model::NamedParameter> trained = model::TrainedOf(trainer.model().Parameters());
  for (const model::NamedParameter& parameter : trained) {
    if (!MayBeTable(parameter)) least.gradients += parameter.value.nbytes();
  }
  for (const optim::StateTensor& state : trainer.optimizer->State()) {
    const auto of = std::find_if(trained.begin(), trained.end(), [&](const auto& parameter) {
      return state.name.ends_with("/" + parameter.name);
    });
    const bool table =
        of != trained.end() && MayBeTable(*of) && state.value.sizes() == of->value.sizes();
    const size_t rows = table ? batches.RowsOf(trainer.model(), of->name).size() : 0;
    least.optimizer += table ? std::min(rows, static_cast<size_t>(state.value.size(0))) *
                                   sizeof(float) * static_cast<size_t>(state.value.size(1))
                             : state.value.nbytes();
  }
}

// Counts the memory of the forward pass and of the scores, for this process's part of the batch.
void CountPass(const Trainer& trainer, const sampling::Batch& largest, LeastMemory& least) {
  const TrainingBatch batch = trainer.batches.Make(largest, {0, 0});
  const int64_t ranks = trainer.group() != nullptr ? trainer.group()->ranks() : 1;
  least.queries = batch.queries / ranks;
  least.tokens = batch.tokens() / ranks;
  least.chunk_tokens = trainer.recipe().train.chunk_tokens;
  least.accumulates = trainer.recipe().train.accumulate > 1;
  const model::ForwardOptions options{.precision = trainer.inputs.run.precision, .training = true};
  Prepare(trainer.model(), options.precision, tensor::Passes::kForward);
  least.before = ReadHeldMemory();
  const double share =
      std::min(1.0, static_cast<double>(kSample) / static_cast<double>(batch.tokens()));
  const Kept large = KeptByForward(trainer, batch, options, share);
  const Kept small = KeptByForward(trainer, batch, options, share / 2);
  if (large.tokens > small.tokens && large.bytes > small.bytes) {
    least.per_token = static_cast<double>(large.bytes - small.bytes) /
                      static_cast<double>(large.tokens - small.tokens);
  }
  const int64_t pass =
      least.chunk_tokens > 0 ? std::min(least.chunk_tokens, least.tokens) : least.tokens;
  const double kept =
      static_cast<double>(large.bytes) + least.per_token * static_cast<double>(pass - large.tokens);
  least.pass = static_cast<uint64_t>(std::max(0.0, kept));
  if (trainer.objective.needs.negatives) {
    least.scores = kScoreBytes * static_cast<uint64_t>(least.queries * batch.documents);
  }
}

}  // namespace

LeastMemory LeastMemoryOf(const Trainer& trainer, const RunPlan& plan) {
  LeastMemory least{.before = ReadHeldMemory()};
  if (!trainer.inputs.run.device.is_cpu()) return least;
  const PlannedBatches batches = LookAtBatches(trainer, plan, kBatches);
  if (batches.largest_tokens == 0) return least;
  CountPass(trainer, batches.largest, least);
  CountUpdate(trainer, batches, least);
  return least;
}

}  // namespace tandem::train
