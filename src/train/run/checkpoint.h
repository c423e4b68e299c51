// Everything that a run needs to go on, in one folder.
//
//   weights.safetensors     the parameters, float32
//   optimizer.safetensors   what optimizers and the objective keep
//   sampler.safetensors     what the sampler keeps of every query or pair; only where it keeps any
//   state.json              loop, sampler, counters, fingerprint of the data
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

// The parameters whose values a checkpoint saves: those of the model that are trained, and the
// objective's scale and bias.
std::vector<model::NamedParameter> SavedParameters(model::DualEncoder& model,
                                                   const ObjectiveStates& states);

// Writes the folder complete or not at all, flushed to the disk. Throws OutputError.
void SaveCheckpoint(const std::filesystem::path& folder,
                    std::span<const model::NamedParameter> parameters,
                    std::span<const optim::StateTensor> tensors, const Json& state,
                    std::span<const sampling::StateArray> sampler = {});

// A folder with weights and state only: a model that may turn out to be the best.
void SaveWeights(const std::filesystem::path& folder,
                 std::span<const model::NamedParameter> parameters, const Json& state);

// state.json. Throws ModelError where it is missing or broken.
Json ReadState(const std::filesystem::path& folder);

// What may be asked of a checkpoint that is not restored, as it says it or the value here.
struct CheckpointFacts {
  InputFingerprints inputs;
  int64_t ranks = 1;  // processes that trained together
  uint64_t metrics_bytes = 0;
  int64_t best_step = 0;  // of its validations; 0 in a run without them, too
  std::optional<double> base_value;
  bool stopped_early = false;
  double progress = 0;  // of a run whose number of steps is not known; 0: it is
  double progress_before = 0;
};
CheckpointFacts FactsOf(const Json& state);
// Throws as ReadState.
CheckpointFacts ReadFacts(const std::filesystem::path& folder);

// Overwrites the parameters. Throws ModelError for a file that does not have exactly theirs.
void LoadWeights(const std::filesystem::path& folder,
                 std::span<const model::NamedParameter> parameters);

// Overwrites the tensors that optimizers and the objective keep; what else they keep is in the
// state. Throws as LoadWeights.
void LoadTensors(const std::filesystem::path& folder, std::span<const optim::StateTensor> tensors);

// The sampler's arrays, in no particular order; none where the checkpoint has no file of them.
// Throws ModelError for a broken file.
std::vector<sampling::StateArray> LoadSamplerArrays(const std::filesystem::path& folder);

}  // namespace tandem::train
