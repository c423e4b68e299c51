// Cuts an encoder to its first layers.
#pragma once

#include <cstdint>

#include "base/json/json.h"
#include "weights/folders/model_folder.h"

namespace tandem::weights {

// Leaves the encoder its first `layers` layers, which read the same tensors as before. Tensors of
// the other layers are neither bound nor carried through, and the config.json that is written says
// the new number (ModelFolder::kept_layers). Does nothing where it has so many. Throws UsageError
// for a number below 1 or above what the encoder has.
void KeepLayers(ModelFolder* folder, int64_t layers);

// Puts a number of layers into an encoder's config.json, where `key` says how many there are: lists
// of a value for each layer are cut to it.
void SetLayers(const std::string& key, int64_t layers, Json* config);

}  // namespace tandem::weights
