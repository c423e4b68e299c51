#include "train/observers/checkpoint_observer.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json/json_reader.h"
#include "tensor/core/tensor.h"
#include "train/run/broadcast_arrays.h"
#include "train/run/checkpoint.h"
#include "train/run/loop.h"

namespace tandem::train {

// If an earlier process was interrupted during the validation at its last step, its checkpoint
// lacks the result, and this process, which has just validated, saves it again.
Next CheckpointObserver::Begin(const Loop& loop) {
  if (validated_ && loop.state().step > 0) SaveIfDue(loop);
  return Next::kGoOn;
}

Next CheckpointObserver::AfterStep(const Loop& loop, const StepReport& /*report*/) {
  SaveIfDue(loop);
  return Next::kGoOn;
}

void CheckpointObserver::AfterValidation(const Loop& loop, const ValidationReport& report) {
  validated_ = true;
  if (report.best) folder_.KeepBests(loop.state().step);
}

// Saves nothing before the first step, because a resumed run would do everything again anyway.
void CheckpointObserver::Interrupt(const Loop& loop) {
  if (loop.state().step > 0) SaveNow(loop);
}

void CheckpointObserver::SaveIfDue(const Loop& loop) {
  if (plan_.CheckpointDue(loop.state()) || loop.done()) SaveNow(loop);
}

void CheckpointObserver::SaveNow(const Loop& loop) {
  const int64_t step = loop.state().step;
  Json state = loop.State();
  state["format"] = 1;
  fingerprints_.VisitState(StateVisitor::Writer(state));
  if (loop.group() != nullptr) state["ranks"] = loop.group()->ranks();
  SaveCheckpoint(folder_.Checkpoint(step), loop.SavedParameters(), loop.StateTensors(), state,
                 loop.SamplerArrays());
  folder_.Prune(plan_, step, FactsOf(state).best_step);
}

namespace {

void RestoreState(Loop& loop, const std::filesystem::path& path, const Json& state,
                  std::vector<sampling::StateArray> arrays) {
  try {
    loop.RestoreState(state, std::move(arrays));
  } catch (const JsonError& error) {
    throw ModelError(path.native(), "", fmt::format("state.json is broken: {}", error.what()));
  }
}

// Overwrites a tensor with that of rank 0.
void Share(dist::ProcessGroup& group, const tensor::Tensor& tensor) {
  group.Broadcast(tensor.detach());
  tensor.bump_version();
}

void RestoreEverywhere(Loop& loop, const std::filesystem::path& path) {
  dist::ProcessGroup& group = *loop.group();
  std::string state;
  std::vector<sampling::StateArray> arrays;
  group.Agree([&] {
    if (!group.leads()) return;
    state = ReadState(path).Dump();
    arrays = LoadSamplerArrays(path);
  });
  state = group.BroadcastBytes(state);
  arrays = BroadcastArrays(group, std::move(arrays));
  group.Agree([&] {
    RestoreState(loop, path, ParseJson(state), std::move(arrays));
    if (!group.leads()) return;
    LoadWeights(path, loop.SavedParameters());
    LoadTensors(path, loop.StateTensors());
  });
  for (const model::NamedParameter& parameter : loop.SavedParameters()) {
    Share(group, parameter.value);
  }
  for (const optim::StateTensor& tensor : loop.StateTensors()) Share(group, tensor.value);
}

}  // namespace

void RestoreCheckpoint(Loop& loop, const RunFolder& folder, int64_t step) {
  const std::filesystem::path path = folder.Checkpoint(step);
  if (loop.group() != nullptr) return RestoreEverywhere(loop, path);
  RestoreState(loop, path, ReadState(path), LoadSamplerArrays(path));
  LoadWeights(path, loop.SavedParameters());
  LoadTensors(path, loop.StateTensors());
}

}  // namespace tandem::train
