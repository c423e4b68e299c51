// The validation that a recipe asks for.
#pragma once

#include <memory>

#include "config/recipe/recipe_parse.h"
#include "train/setup/setup.h"
#include "train/validation/validator.h"

namespace tandem::train {

// Throws RecipeError where `validation.measure` or `validation.report` names no measure of
// eval/measure.h, or one twice.
void CheckValidation(const config::LoadedRecipe& loaded);

// For the data and the model of `setup`, which must outlive the validator; null where the recipe
// has no validation.
std::unique_ptr<Validator> MakeValidator(const Setup& setup);

}  // namespace tandem::train
