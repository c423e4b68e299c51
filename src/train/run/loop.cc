#include "train/run/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/json/json.h"
#include "tensor/profile/profile.h"
#include "train/checks/out_of_memory.h"
#include "train/run/checkpoint.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;

sampling::Batch NextBatch(sampling::Sampler& sampler) {
  const tensor::ProfileScope scope("sample");
  return sampler.Next();
}

// Makes the batch, with masks of only those queries that this process scores.
TrainingBatch MakeBatch(const LoopParts& parts, const sampling::Batch& plan) {
  const tensor::ProfileScope scope("assemble batch");
  return parts.batches.Make(
      plan, parts.step.ScoredQueries(static_cast<int64_t>(plan.rows()), parts.objective));
}

}  // namespace

NumericError DivergedError(int64_t step, const std::string& what) {
  return NumericError(fmt::format(
      "step {}: {}; try a lower optimizer.learning_rate, a longer schedule.warmup, optimizer.clip "
      "or precision = \"fp32\".",
      step, what));
}

// Sums over the batches of a step.
struct Loop::BatchSums {
  double weight = 0;
  double loss = 0;               // weighted
  double equal_scores_loss = 0;  // weighted
  int64_t queries = 0;
  int64_t tokens = 0;
  int64_t negatives = 0;
  int64_t false_negatives = 0;
  int64_t same_tower_masked = 0;
  int64_t empty_batches = 0;
  int64_t batches = 0;
  bool complete = false;  // this was the step's last batch
};

Loop::Loop(const LoopParts& parts, const LoopOptions& options, std::vector<LoopObserver*> observers)
    : parts_(parts), options_(options), observers_(std::move(observers)) {}

template <typename Call>
Next Loop::TellAll(const Call& call) {
  for (LoopObserver* observer : observers_) {
    const Next next = call(*observer);
    if (next == Next::kInterrupt) return next;
    if (next == Next::kStop) state_.stopped_early = true;
  }
  return state_.stopped_early ? Next::kStop : Next::kGoOn;
}

Next Loop::Agreed(Next next) const {
  if (parts_.group == nullptr) return next;
  return static_cast<Next>(parts_.group->Largest(static_cast<int64_t>(next)));
}

bool Loop::Run() {
  Next next = TellAll([this](LoopObserver& observer) { return observer.Begin(*this); });
  while (!done() && next != Next::kInterrupt) {
    next = Agreed(TellAll([this](LoopObserver& observer) { return observer.BeforeStep(*this); }));
    if (next == Next::kGoOn) next = MineIfDue();
    if (next != Next::kGoOn) continue;
    const StepReport report = Step();
    next = TellAll(
        [this, &report](LoopObserver& observer) { return observer.AfterStep(*this, report); });
  }
  const bool interrupted = next == Next::kInterrupt;
  for (LoopObserver* observer : observers_) {
    interrupted ? observer->Interrupt(*this) : observer->End(*this);
  }
  return !interrupted;
}

Next Loop::MineIfDue() {
  const int64_t rounds = options_.mining.RoundsBy(state_);
  if (parts_.miner == nullptr || rounds == state_.mining_rounds) return Next::kGoOn;
  std::optional<MinedRound> mined =
      parts_.miner->Mine(parts_.model, {.number = rounds - 1, .by_base = state_.step == 0},
                         [this](const MiningStage& stage) {
                           bool go_on = true;
                           for (LoopObserver* observer : observers_) {
                             go_on = observer->DuringMining(*this, stage) && go_on;
                           }
                           return go_on;
                         });
  if (!mined) return Next::kInterrupt;
  parts_.sampler.set_mined(std::move(mined->pool));
  state_.mining_rounds = rounds;
  for (LoopObserver* observer : observers_) observer->AfterMining(*this, mined->report);
  return Next::kGoOn;
}

StepReport Loop::Step() {
  const Clock::time_point start = Clock::now();
  {
    const tensor::ProfileScope scope("clear gradients");
    parts_.updater.ClearGradients();
  }
  try {
    const BatchSums sums = RunBatches();
    // The gradients are a weighted sum over the batches; dividing by the sum of weights gives the
    // mean.
    const double share = 1 / sums.weight;
    const UpdateReport update = parts_.updater.Step(state_.step, share, state_.progress);
    ++state_.step;
    state_.queries += sums.queries;
    state_.tokens += sums.tokens;
    state_.progress_before = state_.progress;
    CountProgress();
    return {.loss = share * sums.loss,
            .equal_scores_loss = share * sums.equal_scores_loss,
            .gradient_norm = update.gradient_norm,
            .learning_rate = update.learning_rate,
            .skipped = update.skipped,
            .queries = sums.queries,
            .tokens = sums.tokens,
            .negatives = sums.negatives,
            .false_negatives = sums.false_negatives,
            .same_tower_masked = sums.same_tower_masked,
            .empty_batches = sums.empty_batches,
            .batches = sums.batches,
            .seconds = std::chrono::duration<double>(Clock::now() - start).count()};
  } catch (const NumericError& error) {
    // Losses and gradients are those of all processes.
    if (parts_.group != nullptr) parts_.group->FailTogether();
    throw DivergedError(state_.step + 1, error.what());
  }
}

// Counts a run of 3 epochs as done at 3 - 1e-9, because shares of epochs are sums of rounded
// numbers.
void Loop::CountProgress() {
  state_.epoch = parts_.sampler.Passes();
  const double done = by_progress()
                          ? state_.epoch / *options_.epochs + 1e-9
                          : static_cast<double>(state_.step) / static_cast<double>(options_.steps);
  state_.progress = std::min(1.0, done);
}

Loop::BatchSums Loop::RunBatches() {
  parts_.states.BeginStep(state_.step + 1);
  BatchSums sums;
  for (int64_t part = 0; !sums.complete; ++part) RunBatch(part, sums);
  return sums;
}

// A run whose length is given in epochs ends with their last batch, so that its last step may have
// fewer batches than the others.
bool Loop::IsLastBatch(int64_t part) const {
  if (part + 1 == options_.accumulate) return true;
  if (by_progress()) return parts_.sampler.Passes() >= *options_.epochs - 1e-9;
  return options_.batches && state_.batches + 1 >= *options_.batches;
}

// Batches are weighted by their numbers of queries if the objective is a mean over queries: the
// step is then the same as with one batch of all these queries. Other objectives compare pairs
// within a batch; their batches have equal weights.
void Loop::RunBatch(int64_t part, BatchSums& sums) {
  const sampling::Batch plan = NextBatch(parts_.sampler);
  sums.complete = IsLastBatch(part);
  const TrainingBatch batch = MakeBatch(parts_, plan);
  const bool by_queries = parts_.objective.needs.separable_by_row && options_.accumulate > 1;
  const double weight =
      by_queries ? static_cast<double>(batch.queries) / static_cast<double>(options_.batch) : 1;
  const StepOptions step{
      .forward = {.precision = options_.precision,
                  .training = true,
                  .seed = options_.seed,
                  .step = static_cast<uint64_t>(state_.step * options_.accumulate + part)},
      .weight = weight * parts_.updater.loss_scale().value(),
      .with_equal_scores_loss = (state_.step + 1) % kEqualScoresEvery == 0,
      .weights_stay = options_.accumulate > 1,
      .reducer = sums.complete ? parts_.reducer : nullptr};
  StepOutcome outcome;
  WithMemoryAdvice(
      options_.device,
      {.queries = batch.queries, .tokens = batch.tokens(), .chunk_tokens = options_.chunk_tokens},
      [&] {
        outcome = parts_.step.ForwardBackward(parts_.model, batch, parts_.objective,
                                              std::move(parts_.states), step);
      });
  parts_.states = std::move(outcome.states);
  parts_.sampler.AddFeedback(
      {.batch = &plan, .cosines = outcome.cosines, .losses = outcome.losses});
  ++state_.batches;
  ++sums.batches;
  sums.weight += weight;
  sums.loss += weight * outcome.loss;
  sums.equal_scores_loss += weight * outcome.equal_scores_loss;
  sums.queries += batch.queries;
  sums.tokens += batch.tokens();
  sums.negatives += outcome.negatives;
  sums.false_negatives += outcome.false_negatives;
  sums.same_tower_masked += outcome.same_tower_masked;
  sums.empty_batches += outcome.lacks_negatives ? 1 : 0;
}

bool Loop::TellDuringValidation(double share) const {
  bool go_on = true;
  for (LoopObserver* observer : observers_) {
    go_on = observer->DuringValidation(*this, share) && go_on;
  }
  return Agreed(go_on ? Next::kGoOn : Next::kInterrupt) == Next::kGoOn;
}

void Loop::TellAfterValidation(const ValidationReport& report) const {
  for (LoopObserver* observer : observers_) observer->AfterValidation(*this, report);
}

std::vector<model::NamedParameter> Loop::SavedParameters() const {
  return train::SavedParameters(parts_.model, parts_.states);
}

std::vector<optim::StateTensor> Loop::StateTensors() const {
  std::vector<optim::StateTensor> tensors = parts_.updater.StateTensors();
  for (optim::StateTensor& tensor : parts_.states.Tensors()) tensors.push_back(std::move(tensor));
  return tensors;
}

std::vector<sampling::StateArray> Loop::SamplerArrays() const {
  return parts_.sampler.State().arrays;
}

Json Loop::State() const {
  Json state = Json::object();
  LoopState loop = state_;  // a copy, because writing must not change state_
  VisitState(StateVisitor::Writer(state), loop, {});
  return state;
}

void Loop::RestoreState(const Json& state, std::vector<sampling::StateArray> arrays) {
  VisitState(StateVisitor::Reader(state), state_, std::move(arrays));
  CountProgress();
}

void Loop::VisitState(StateVisitor visit, LoopState& state,
                      std::vector<sampling::StateArray> arrays) const {
  const StateVisitor loop = visit.Part("loop");
  loop.Member("step", state.step);
  loop.Member("batches", state.batches, state.step * options_.accumulate,
              /*kept=*/options_.accumulate > 1);
  loop.Member("queries", state.queries);
  loop.Member("tokens", state.tokens);
  loop.Member("stopped_early", state.stopped_early);
  loop.Member("mining_rounds", state.mining_rounds, 0, /*kept=*/parts_.miner != nullptr);
  loop.Member("progress_before", state.progress_before, 0, /*kept=*/by_progress());
  loop.Member("progress", state.progress, 0, /*kept=*/by_progress());
  LossScale& loss_scale = parts_.updater.loss_scale();
  if (loss_scale.on()) loss_scale.VisitState(loop.Part("loss_scale"));
  for (LoopObserver* observer : observers_) observer->VisitState(loop);
  Json sampler;
  if (!visit.reads()) sampler = parts_.sampler.State().values;
  visit.Member("sampler", sampler);
  if (visit.reads()) parts_.sampler.Restore({std::move(sampler), std::move(arrays)});
  int64_t steps = parts_.updater.model_steps(), objective_steps = parts_.updater.objective_steps();
  visit.Member("optimizer_steps", steps);
  if (!parts_.states.empty()) {
    const StateVisitor objective = visit.Part("objective");
    parts_.states.VisitState(objective);
    objective.Member("optimizer_steps", objective_steps);
  }
  if (visit.reads()) parts_.updater.SetSteps(steps, objective_steps);
}

}  // namespace tandem::train
