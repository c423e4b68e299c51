// Everything that a run needs to go on, in one folder.
//
//   weights.safetensors     the parameters, float32
//   optimizer.safetensors   what optimizers and the objective keep
//   state.json              loop, sampler, counters, fingerprint of the data
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "model/dual_encoder.h"
#include "optim/optimizer.h"

namespace tandem::train {

// Writes the folder complete or not at all, flushed to the disk. Throws OutputError.
void SaveCheckpoint(const std::filesystem::path& folder,
                    std::span<const model::NamedParameter> parameters,
                    std::span<const optim::StateTensor> tensors, const nlohmann::json& state);

// A folder with weights and state only: a model that may turn out to be the best.
void SaveWeights(const std::filesystem::path& folder,
                 std::span<const model::NamedParameter> parameters, const nlohmann::json& state);

// state.json. Throws ModelError where it is missing or broken.
nlohmann::json ReadState(const std::filesystem::path& folder);

// Overwrites the parameters. Throws ModelError for a file that does not have exactly theirs.
void LoadWeights(const std::filesystem::path& folder,
                 std::span<const model::NamedParameter> parameters);

// Overwrites the tensors that optimizers and the objective keep; what else they keep is in the
// state. Throws as LoadWeights.
void LoadTensors(const std::filesystem::path& folder, std::span<const optim::StateTensor> tensors);

}  // namespace tandem::train
