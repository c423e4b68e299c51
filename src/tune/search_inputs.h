// What a search reads besides its recipe, told apart by hashes, so that one that goes on is known
// to read the same.
#pragma once

#include <string>

#include "base/json/json.h"
#include "config/tune/tune_recipe.h"
#include "train/validation/measure_models.h"

namespace tandem::tune {

// {"data": ..., "base": ..., FOLDER: ...}: the training and validation data, the base model's
// files, and each folder of tune.keep and tune.test, as hexadecimal digits.
Json HashInputs(const config::LoadedTune& tune, const train::ModelMeasurer& measurer);

// What differs between the hashes that a search began with and those of now, in words; "" where
// nothing does. A search of an earlier version has none, and is not looked at.
std::string DifferentInputs(const Json* before, const Json& now);

}  // namespace tandem::tune
