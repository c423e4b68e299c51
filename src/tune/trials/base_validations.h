// What trials know of their base from other trials. Validating it gives the same to all that
// validate the same texts with the same model, so that only the first of them does it.
#pragma once

#include <cstdint>
#include <vector>

#include "config/tune/tune_recipe.h"
#include "train/validation/known_base.h"
#include "tune/schedule/search_plan.h"
#include "tune/search_context.h"

namespace tandem::tune {

// The values of a configuration that may change what validating the base gives.
config::Assignment BaseKeys(const config::Assignment& values);

// [i] is how many of the first i + 1 configurations validate the base themselves.
std::vector<int64_t> CountBaseValidations(const std::vector<config::Assignment>& configurations);

// The validations of the base that other trials have made and that may be `trial`'s too; of
// different similarities, where their objectives compare by different ones. The processes of a
// group get the same.
std::vector<train::KnownBase> KnownBases(const SearchContext& search, const SearchPlan& plan,
                                         int64_t trial);

}  // namespace tandem::tune
