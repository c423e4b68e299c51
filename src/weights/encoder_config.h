// Reads config.json and finds the tensors that it asks for. Internal to the room.
#pragma once

#include <filesystem>
#include <vector>

#include "weights/model_folder.h"

namespace tandem::weights {

// Throws ModelError for an architecture or setting that is not supported or sizes out of range.
EncoderConfig ReadEncoderConfig(const std::filesystem::path& path);

// Every tensor that the encoder computes with, canonical names, `view` null.
std::vector<EncoderTensor> EncoderTensorsOf(const EncoderConfig& config);

// Fills in the views. A tensor may have its canonical name, that name behind the prefix of task
// models ("bert."), or the older spelling of normalisation weights (gamma, beta). Throws ModelError
// for a tensor that is missing, has another shape or is not F32, F16 or BF16.
void BindEncoderTensors(const WeightFiles& weights, std::vector<EncoderTensor>* tensors);

}  // namespace tandem::weights
