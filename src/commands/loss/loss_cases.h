// The cases of `tandem loss`: embeddings, labels and masks in a file, with or without the expected
// loss and gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "objective/embedding_loss.h"

namespace tandem::app {

using objective::Matrix;

struct ExpectedLoss {
  double loss = 0;
  std::vector<double> losses;     // [Q], or empty: not compared
  Matrix<double> grad_queries;    // [Q, E], with respect to the raw embeddings
  Matrix<double> grad_documents;  // [D, E]
};

struct LossCase : objective::EmbeddingBatch {
  std::optional<ExpectedLoss> expected;
};

// Reads the cases. Throws DataError naming file, case and field for a field that is missing or of a
// wrong type, shape or range; UsageError for an objective that does not exist. Fields that an
// objective does not need may be missing; `with_expected` requires `loss`, `grad_queries` and
// `grad_documents`.
std::vector<LossCase> ReadLossCases(const std::string& file, bool with_expected);

}  // namespace tandem::app
