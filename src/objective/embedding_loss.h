// An objective on given embeddings, with its gradients: for `tandem loss` and Python, which have
// embeddings, labels and masks as matrices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/param.h"
#include "config/params.h"
#include "objective/catalogue.h"
#include "objective/objective.h"
#include "tensor/core/dtype.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {

template <typename T>
struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<T> values;  // row-major
};

// One batch. What an objective does not need may be empty.
struct EmbeddingBatch {
  const ObjectiveInfo* objective = nullptr;
  config::Params params;              // of the objective
  Matrix<double> queries;             // [Q, E]
  Matrix<double> documents;           // [D, E]
  std::vector<int64_t> positive;      // [Q]
  Matrix<double> relevance;           // [Q, D]
  Matrix<uint8_t> labelled;           // [Q, D]
  Matrix<uint8_t> negative;           // [Q, D]
  Matrix<uint8_t> query_negative;     // [Q, Q]
  Matrix<uint8_t> document_negative;  // [Q, Q]
  Matrix<double> teacher;             // [Q, D]
  std::vector<double> weights;        // [Q], or empty: all are 1
  std::vector<double> bank_positives;
  std::vector<double> bank_negatives;
  std::optional<double> scale;  // learned so far; none: the parameter `scale`
  std::optional<double> bias;   // likewise; none: the parameter `bias`, or the batch's StartingBias
};

// What is wrong with a field, which is named as users write it ("positive", "parameters.scale"); an
// empty text: nothing.
struct BatchProblem {
  std::string field;
  std::string text;
};

// Sets a parameter of the batch's objective.
BatchProblem SetParameter(EmbeddingBatch& batch, const std::string& name,
                          const config::Value& value);
// Says whether the parameters, once all are set, contradict each other.
BatchProblem ParametersProblem(const EmbeddingBatch& batch);
// Says whether columns, weights and grades are out of their ranges. The shapes are right.
BatchProblem ValuesProblem(const EmbeddingBatch& batch);

// The labels of the batch, whose memory they view.
Labels LabelsOf(const EmbeddingBatch& batch);

struct EmbeddingLoss {
  double loss = 0;
  std::vector<double> losses;     // [Q]
  tensor::Tensor grad_queries;    // [Q, E], with respect to the raw embeddings
  tensor::Tensor grad_documents;  // [D, E]
  tensor::Tensor query_document;  // float64 [Q, D]: the scores, without a gradient
  // Of an objective that has a scale and a bias (StatePlan::logistic), else 0.
  double bias = 0;  // that the loss was computed with
  double grad_scale = 0;
  double grad_bias = 0;
};

// Evaluates the objective on embeddings that are rounded to `dtype`, which the gradients have too.
// Scores and losses are in double (similarity.h). The similarity is that of the parameters, else
// kSimilarityWithoutModel. Throws NumericError for what is not finite, std::logic_error for wrong
// shapes.
EmbeddingLoss EvaluateEmbeddings(const EmbeddingBatch& batch, tensor::DType dtype);

}  // namespace tandem::objective
