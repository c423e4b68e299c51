// Validates on several data sets: the mean of their values decides.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "train/validation/validator.h"

namespace tandem::train {

// The validator of one data set, whose name is told from the others'.
struct ValidatorOfSource {
  std::string name;
  std::unique_ptr<Validator> validator;
};

// Makes a validator whose values are the means of those of `sources`, each of which weighs the same
// whatever its number of queries; at least one. All of them measure the same. Its result names
// each one's value, but no value of single queries, since it is no mean of these.
std::unique_ptr<Validator> MakeMeanValidator(std::vector<ValidatorOfSource> sources);

}  // namespace tandem::train
