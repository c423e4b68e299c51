// A checkpoint: a folder with everything that a run needs to resume; of a finished run perhaps
// only state.json (DropTensors).
//
//   weights.safetensors     the parameters, float32
//   optimizer.safetensors   state of the optimizers and the objective
//   sampler.safetensors     the sampler's state of each query or pair; only if it has any
//   state.json              loop, sampler, counters, fingerprints of data, base and adapter
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/json/json.h"
#include "model/dual_encoder.h"
#include "optim/optimizer.h"
#include "sampling/state.h"
#include "train/inputs/input_fingerprints.h"
#include "train/objective/objective_states.h"

namespace tandem::train {

// Returns the parameters that a checkpoint saves: the trained ones of the model, and scale and bias
// of the objective.
std::vector<model::NamedParameter> SavedParameters(model::DualEncoder& model,
                                                   const ObjectiveStates& states);

// Writes the whole folder or nothing, and flushes it to the disk. Throws OutputError.
void SaveCheckpoint(const std::filesystem::path& folder,
                    std::span<const model::NamedParameter> parameters,
                    std::span<const optim::StateTensor> tensors, const Json& state,
                    std::span<const sampling::StateArray> sampler = {});

// Writes a folder with only weights and state, for a model that may become the best of the run.
void SaveWeights(const std::filesystem::path& folder,
                 std::span<const model::NamedParameter> parameters, const Json& state);

// Reads state.json. Throws ModelError if it is missing or broken.
Json ReadState(const std::filesystem::path& folder);

// Facts about a checkpoint that are known without restoring it. The values here are those of a
// checkpoint that does not state them.
struct CheckpointFacts {
  InputFingerprints inputs;
  int64_t ranks = 1;  // processes that trained together
  uint64_t metrics_bytes = 0;
  int64_t best_step = 0;  // best step of its validations; also 0 in a run without validation
  std::optional<double> base_value;
  bool stopped_early = false;
  double progress = 0;  // for a run whose number of steps is not known; else 0
  double progress_before = 0;
};
CheckpointFacts FactsOf(const Json& state);
// Reads the facts. Throws as ReadState does.
CheckpointFacts ReadFacts(const std::filesystem::path& folder);

// Whether a run can resume from the checkpoint; else a finished run has dropped its tensors.
bool HasTensors(const std::filesystem::path& folder);
// Removes everything but state.json, by which a run knows that it is finished and with which data.
// Throws OutputError.
void DropTensors(const std::filesystem::path& folder);

// Overwrites the parameters. Throws ModelError if the file does not have exactly these.
void LoadWeights(const std::filesystem::path& folder,
                 std::span<const model::NamedParameter> parameters);

// Overwrites the tensors of the optimizers' and the objective's state; the rest of that state is in
// state.json. Throws as LoadWeights does.
void LoadTensors(const std::filesystem::path& folder, std::span<const optim::StateTensor> tensors);

// Returns the sampler's arrays, in no particular order; none if the checkpoint has no file of them.
// Throws ModelError for a broken file.
std::vector<sampling::StateArray> LoadSamplerArrays(const std::filesystem::path& folder);

}  // namespace tandem::train
