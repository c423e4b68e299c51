// A measure of a validation and what it found.
#pragma once

#include <string>

namespace tandem::train {

struct MeasuredValue {
  std::string measure;  // "ndcg@10"
  double value = 0;
};

}  // namespace tandem::train
