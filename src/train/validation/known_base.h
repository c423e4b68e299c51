// A validation of the base model that was made before.
#pragma once

#include <string>

#include "train/validation/validator.h"

namespace tandem::train {

struct KnownBase {
  std::string similarity;  // by which the model compared embeddings: "cosine"
  Validated validated;     // without the values of single queries
};

}  // namespace tandem::train
