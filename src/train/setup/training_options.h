// Describes which parameters of a model a recipe trains.
#pragma once

#include <string>

#include "config/recipe/recipe.h"
#include "model/dual_encoder.h"

namespace tandem::train {

model::TrainingOptions TrainingOptionsOf(const config::Recipe& recipe);

// Returns "training 0.3 of 22.7 million parameters (...)"; empty if all are trained.
std::string TrainedText(model::DualEncoder& model, const config::Recipe& recipe);

}  // namespace tandem::train
