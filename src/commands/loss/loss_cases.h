// The cases of `tandem loss`: embeddings, labels and masks in a file, with or without the expected
// loss and gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/params.h"
#include "objective/catalogue.h"

namespace tandem::app {

template <typename T>
struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<T> values;  // row-major
};

struct ExpectedLoss {
  double loss = 0;
  std::vector<double> losses;     // [Q], or empty: not compared
  Matrix<double> grad_queries;    // [Q, E], with respect to the raw embeddings
  Matrix<double> grad_documents;  // [D, E]
};

struct LossCase {
  const objective::ObjectiveInfo* objective = nullptr;
  config::Params params;
  Matrix<double> queries;             // [Q, E]
  Matrix<double> documents;           // [D, E]
  std::vector<int64_t> positive;      // [Q]
  Matrix<double> relevance;           // [Q, D], or empty
  Matrix<uint8_t> labelled;           // [Q, D], or empty
  Matrix<uint8_t> negative;           // [Q, D]
  Matrix<uint8_t> query_negative;     // [Q, Q], or empty
  Matrix<uint8_t> document_negative;  // [Q, Q], or empty
  Matrix<double> teacher;             // [Q, D], or empty
  std::vector<double> weights;        // [Q], or empty: all are 1
  std::vector<double> bank_positives;
  std::vector<double> bank_negatives;
  std::optional<ExpectedLoss> expected;
};

// Reads the cases. Throws DataError naming file, case and field for a field that is missing or of a
// wrong type, shape or range; UsageError for an objective that does not exist. Fields that an
// objective does not need may be missing; `with_expected` requires `loss`, `grad_queries` and
// `grad_documents`.
std::vector<LossCase> ReadLossCases(const std::string& file, bool with_expected);

}  // namespace tandem::app
