// Everything that a run needs to go on, in one folder.
//
//   weights.safetensors     the parameters, float32
//   optimizer.safetensors   what optimizers and the objective keep
//   sampler.safetensors     what the sampler keeps of every query or pair; only where it keeps any
//   state.json              loop, sampler, counters, fingerprint of the data
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/json/json.h"
#include "model/dual_encoder.h"
#include "optim/optimizer.h"
#include "sampling/state.h"

namespace tandem::train {

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
