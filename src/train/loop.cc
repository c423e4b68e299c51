#include "train/loop.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "optim/gradients.h"
#include "train/checkpoint.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What NumericErrors of a step are turned into: where, and what to try.
NumericError Diverged(int64_t step, const std::string& what, const RunFolder* folder) {
  const auto last = folder != nullptr ? folder->LatestCheckpoint() : std::nullopt;
  return NumericError(fmt::format(
      "step {}: {}; try a lower optimizer.learning_rate, a longer schedule.warmup, optimizer.clip "
      "or precision = \"fp32\". {}",
      step, what,
      last ? fmt::format("The last good checkpoint is {}", folder->Checkpoint(*last).native())
           : std::string("No checkpoint had been saved yet")));
}

sampling::Batch NextBatch(sampling::Sampler& sampler) {
  const tensor::ProfileScope scope("sample");
  return sampler.Next();
}

TrainingBatch MakeBatch(const BatchMaker& batches, const sampling::Batch& plan) {
  const tensor::ProfileScope scope("assemble batch");
  return batches.Make(plan);
}

// `passes` over an array as large as all parameters; fewer are needed where few rows of a table
// have ever had a gradient.
tensor::Work ParameterWork(const std::vector<model::NamedParameter>& parameters, double passes) {
  double elements = 0;
  for (const model::NamedParameter& parameter : parameters) {
    elements += static_cast<double>(parameter.value.numel());
  }
  return {.bytes = passes * elements * sizeof(float)};
}

// Reading all gradients.
tensor::Work GradientWork(const std::vector<model::NamedParameter>& parameters) {
  double elements = 0;
  for (const model::NamedParameter& parameter : parameters) {
    const at::Tensor& gradient = parameter.value.grad();
    if (!gradient.defined()) continue;
    elements +=
        static_cast<double>(gradient.is_sparse() ? gradient._values().numel() : gradient.numel());
  }
  return {.bytes = elements * sizeof(float)};
}

}  // namespace

struct Loop::StepFigures {
  double loss = 0;
  double gradient_norm = 0;
  double learning_rate = 0;
};

Loop::Loop(const LoopParts& parts)
    : parts_(parts),
      parameters_(parts.model->Parameters()),
      saved_(SavedParameters(*parts.model, *parts.goal)) {}

Loop::~Loop() = default;

void Loop::Restore(int64_t step) {
  const std::filesystem::path folder = parts_.folder->Checkpoint(step);
  const nlohmann::json state = ReadState(folder);
  try {
    state_ = state.at("loop").get<LoopState>();
    parts_.sampler->Restore(state.at("sampler"));
    parts_.optimizer->set_steps(state.at("optimizer_steps").get<int64_t>());
    if (parts_.goal->states != nullptr) parts_.goal->states->Restore(state.at("objective"));
  } catch (const nlohmann::json::exception& error) {
    throw ModelError(folder.native(), "", fmt::format("state.json is broken: {}", error.what()));
  }
  checkpoint_best_ = state_.best_step;
  LoadWeights(folder, saved_);
  LoadTensors(folder, StateTensors());
}

// Of the optimizers and the objective.
std::vector<optim::StateTensor> Loop::StateTensors() {
  std::vector<optim::StateTensor> tensors = parts_.optimizer->State();
  if (parts_.goal->states != nullptr) {
    for (optim::StateTensor& tensor : parts_.goal->states->Tensors()) {
      tensors.push_back(std::move(tensor));
    }
  }
  return tensors;
}

void Loop::Run() {
  progress_ = std::make_unique<Progress>(ProgressOptions{
      .label = "train", .unit = "steps", .total = static_cast<uint64_t>(parts_.plan.steps)});
  line_start_ = Clock::now();
  line_tokens_ = state_.tokens;
  // A run that was stopped while it validated continues there.
  if (state_.step > 0 && parts_.validator != nullptr && parts_.plan.ValidationDue(state_.step) &&
      state_.validated_step < state_.step) {
    AfterStep();
  }
  while (!Done()) {
    if (StopSignal(parts_.stop) != 0) StopForSignal();
    const StepFigures figures = ProfiledStep();
    Report(figures);
    AfterStep();
  }
  progress_->Finish();
}

void Loop::Measure() {
  while (!Done()) {
    if (const int signal = StopSignal(parts_.stop)) throw Interrupted(signal, "interrupted");
    ProfiledStep();
  }
}

// The first step of a process pays for what is made once, and does not count.
Loop::StepFigures Loop::ProfiledStep() {
  if (parts_.profile == nullptr || !std::exchange(warm_, true)) return TrainStep();
  const int64_t tokens = state_.tokens;
  const tensor::ActiveProfile active(&parts_.profile->operations);
  const tensor::ProfileScope scope("everything else");
  const StepFigures figures = TrainStep();
  ++parts_.profile->steps;
  parts_.profile->tokens += state_.tokens - tokens;
  return figures;
}

Loop::StepFigures Loop::TrainStep() {
  const int64_t step = state_.step + 1;
  StepFigures figures;
  {
    const tensor::ProfileScope scope("clear gradients");
    optim::ClearGradients(parameters_);
    if (parts_.goal->states != nullptr) parts_.goal->states->BeginStep(step);
  }
  try {
    Accumulate(figures);
  } catch (const NumericError& error) {
    throw Diverged(step, error.what(), parts_.folder);
  }
  const config::Recipe& recipe = *parts_.recipe;
  const double share = 1.0 / static_cast<double>(recipe.train.accumulate);
  figures.loss *= share;
  {
    const tensor::ProfileScope scope("gradient norm", GradientWork(parameters_));
    figures.gradient_norm = share * optim::GradientNorm(parameters_);
  }
  if (!std::isfinite(figures.gradient_norm)) {
    throw Diverged(step, "the gradient is not finite", parts_.folder);
  }
  figures.learning_rate =
      recipe.optimizer.learning_rate *
      optim::ScheduleFactor(*parts_.schedule, {state_.step, parts_.plan.warmup, parts_.plan.steps});
  const tensor::ProfileScope scope("optimizer",
                                   ParameterWork(parameters_, parts_.optimizer->memory_passes()));
  parts_.optimizer->Step(figures.learning_rate,
                         share * optim::ClipFactor(figures.gradient_norm, recipe.optimizer.clip));
  if (parts_.goal->states != nullptr) parts_.goal->states->Step(figures.learning_rate, share);
  state_.step = step;
  state_.loss_sum += figures.loss;
  ++state_.loss_steps;
  return figures;
}

// The batches of one step: gradients and losses are added up.
void Loop::Accumulate(StepFigures& figures) {
  const config::Recipe& recipe = *parts_.recipe;
  for (int64_t part = 0; part < recipe.train.accumulate; ++part) {
    const sampling::Batch plan = NextBatch(*parts_.sampler);
    const TrainingBatch batch = MakeBatch(*parts_.batches, plan);
    const StepOptions options{
        .forward = {.precision = parts_.precision,
                    .training = true,
                    .seed = static_cast<uint64_t>(recipe.seed),
                    .step = static_cast<uint64_t>(state_.step * recipe.train.accumulate + part)},
        .chunk_tokens = recipe.train.chunk_tokens};
    const StepOutcome outcome = ForwardBackward(*parts_.model, batch, *parts_.goal, options);
    parts_.sampler->Take({.batch = &plan, .cosines = outcome.cosines, .losses = {}});
    figures.loss += outcome.loss;
    state_.false_negatives += outcome.false_negatives;
    state_.queries += batch.queries;
    state_.tokens += batch.tokens();
    state_.epoch = static_cast<double>(plan.epoch);
  }
}

void Loop::Report(const StepFigures& figures) {
  const bool line = state_.step % parts_.recipe->logging.every == 0 || Done();
  const double seconds = SecondsSince(line_start_);
  const double rate = static_cast<double>(state_.tokens - line_tokens_) / std::max(1e-9, seconds);
  progress_->Update(
      static_cast<uint64_t>(state_.step),
      fmt::format("loss {:.4f}, {:.0f} tokens/s{}", figures.loss, rate, last_validation_));
  if (!line) return;
  WriteMetrics(figures);
  parts_.timing->Write({{"step", state_.step},
                        {"seconds", seconds},
                        {"tokens", state_.tokens - line_tokens_},
                        {"tokens_per_second", rate}});
  line_start_ = Clock::now();
  line_tokens_ = state_.tokens;
}

void Loop::WriteMetrics(const StepFigures& figures) {
  nlohmann::ordered_json line = {{"step", state_.step},
                                 {"epoch", state_.epoch},
                                 {"queries", state_.queries},
                                 {"tokens", state_.tokens},
                                 {"loss", state_.loss_sum / static_cast<double>(state_.loss_steps)},
                                 {"learning_rate", figures.learning_rate},
                                 {"gradient_norm", figures.gradient_norm}};
  if (parts_.goal->filter.enabled()) line["false_negatives"] = state_.false_negatives;
  if (parts_.goal->states != nullptr) line["objective"] = parts_.goal->states->Figures();
  parts_.metrics->Write(line);
  state_.loss_sum = 0;
  state_.loss_steps = 0;
  state_.false_negatives = 0;
}

// Validation and checkpoint of the step that was just made.
void Loop::AfterStep() {
  if (parts_.validator != nullptr && parts_.plan.ValidationDue(state_.step)) ValidateOnce();
  if (parts_.plan.CheckpointDue(state_.step) || Done()) Save();
}

void Loop::ValidateOnce() {
  const Clock::time_point start = Clock::now();
  const std::optional<double> value =
      parts_.validator->Measure(*parts_.model, [this](double share) {
        progress_->Update(static_cast<uint64_t>(state_.step),
                          fmt::format("validating {:.0f}%", 100 * share));
        return StopSignal(parts_.stop) == 0;
      });
  if (!value) StopForSignal();
  if (!std::isfinite(*value)) {
    throw Diverged(state_.step,
                   fmt::format("the validation's {} is {}", parts_.validator->name(), *value),
                   parts_.folder);
  }
  const bool best = state_.best_step == 0 || parts_.validator->Better(*value, state_.best_value);
  state_.validated_step = state_.step;
  if (best) {
    state_.best_step = state_.step;
    state_.best_value = *value;
    SaveWeights(parts_.folder->Best(state_.step), saved_,
                {{"step", state_.step}, {parts_.validator->name(), *value}});
    parts_.folder->KeepBests({checkpoint_best_, state_.best_step});
  }
  state_.validations_without_improvement = best ? 0 : state_.validations_without_improvement + 1;
  const int64_t patience = parts_.recipe->validation.patience;
  state_.stopped_early = patience > 0 && state_.validations_without_improvement >= patience;
  parts_.metrics->Write({{"step", state_.step},
                         {"validation", {{parts_.validator->name(), *value}}},
                         {"best", best}});
  parts_.timing->Write({{"step", state_.step}, {"validation_seconds", SecondsSince(start)}});
  last_validation_ = fmt::format(", {} {:.4f}", parts_.validator->name(), *value);
  if (state_.stopped_early) {
    progress_->Finish();
    Note(fmt::format("stopped at step {}: {} has not improved in {} validations", state_.step,
                     parts_.validator->name(), patience));
  }
  line_start_ = Clock::now();
  line_tokens_ = state_.tokens;
}

void Loop::Save() {
  parts_.metrics->Sync();
  state_.metrics_bytes = parts_.metrics->bytes();
  nlohmann::json state = {{"format", 1},
                          {"data_fingerprint", parts_.data_fingerprint},
                          {"base_fingerprint", parts_.base_fingerprint},
                          {"loop", state_},
                          {"sampler", parts_.sampler->State()},
                          {"optimizer_steps", parts_.optimizer->steps()}};
  if (parts_.goal->states != nullptr) state["objective"] = parts_.goal->states->State();
  SaveCheckpoint(parts_.folder->Checkpoint(state_.step), saved_, StateTensors(), state);
  checkpoint_best_ = state_.best_step;
  parts_.folder->Prune(parts_.plan, state_.step, state_.best_step);
}

void Loop::StopForSignal() {
  progress_->Finish();
  if (state_.step > 0) Save();
  const int signal = StopSignal(parts_.stop);
  throw Interrupted(signal, state_.step > 0
                                ? fmt::format("interrupted; {} is saved, continue with --resume",
                                              parts_.folder->Checkpoint(state_.step).native())
                                : "interrupted before the first step; start again with --resume");
}

}  // namespace tandem::train
