// The value of a measure in a validation.
#pragma once

#include <string>

namespace tandem::train {

struct MeasuredValue {
  std::string measure;  // "ndcg@10"
  double value = 0;
};

// The value of the deciding measure for one query.
struct QueryValue {
  std::string query;  // its id
  double value = 0;
};

// The value of the deciding measure on one of several data sets.
struct SourceValue {
  std::string source;  // its name
  double value = 0;
};

}  // namespace tandem::train
