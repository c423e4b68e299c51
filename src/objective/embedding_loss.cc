#include "objective/embedding_loss.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/suggest.h"
#include "objective/batch.h"
#include "objective/batch_arrays.h"
#include "objective/common_params.h"
#include "objective/objective.h"
#include "objective/similarity.h"
#include "tensor/core/make.h"

namespace tandem::objective {
namespace {

// Views of the batch's memory, which must outlive them.
tensor::Tensor ViewOfNumbers(const Matrix<double>& matrix) {
  if (matrix.values.empty()) return {};
  return tensor::FromBlob(const_cast<double*>(matrix.values.data()), {matrix.rows, matrix.columns},
                          tensor::kDouble);
}

tensor::Tensor ViewOfNumbers(const std::vector<double>& values) {
  if (values.empty()) return {};
  return tensor::FromBlob(const_cast<double*>(values.data()), {static_cast<int64_t>(values.size())},
                          tensor::kDouble);
}

tensor::Tensor MaskOf(const Matrix<uint8_t>& matrix) {
  if (matrix.values.empty()) return {};
  return tensor::FromBlob(const_cast<uint8_t*>(matrix.values.data()), {matrix.rows, matrix.columns},
                          tensor::kByte)
      .to(tensor::kBool);
}

// Returns the labelled cells of the matrices; none if the batch has no labels.
LabelledCells LabelledCellsOf(const EmbeddingBatch& batch) {
  LabelledCells labelled;
  if (batch.labelled.values.empty()) return labelled;
  const auto at = [](const Matrix<double>& matrix, int64_t cell) {
    return matrix.values.empty() ? 0 : matrix.values[static_cast<size_t>(cell)];
  };
  labelled.row_starts.push_back(0);
  for (int64_t row = 0; row < batch.labelled.rows; ++row) {
    const int64_t first = row * batch.labelled.columns;
    for (int64_t column = 0; column < batch.labelled.columns; ++column) {
      const int64_t cell = first + column;
      if (batch.labelled.values[static_cast<size_t>(cell)] == 0) continue;
      labelled.cells.push_back({column, at(batch.relevance, cell), at(batch.teacher, cell)});
    }
    labelled.row_starts.push_back(std::ssize(labelled.cells));
    const int64_t own = first + batch.positive[static_cast<size_t>(row)];
    labelled.own_grades.push_back(at(batch.relevance, own));
    labelled.own_teachers.push_back(at(batch.teacher, own));
  }
  return labelled;
}

tensor::Tensor LeafOf(const Matrix<double>& matrix, tensor::DType dtype) {
  return ViewOfNumbers(matrix).to(dtype).clone().set_requires_grad(true);
}

tensor::Tensor LeafOf(double number) {
  return tensor::Full({1}, number, tensor::kDouble).set_requires_grad(true);
}

// The states of the batch; scale and bias are leaves, so that they get gradients.
States StatesOf(const EmbeddingBatch& batch, const Objective& objective, const Scores& scores,
                const Labels& labels) {
  States states{.bank_positives = ViewOfNumbers(batch.bank_positives),
                .bank_negatives = ViewOfNumbers(batch.bank_negatives)};
  const StatePlan plan = batch.objective->StatesOf(batch.params);
  if (!plan.logistic) return states;
  states.scale = LeafOf(batch.scale.value_or(plan.scale));
  const std::optional<double> bias = batch.bias ? batch.bias : plan.bias;
  states.bias = LeafOf(bias ? *bias : objective.StartingBias(scores, labels, states));
  return states;
}

double GradientOf(const tensor::Tensor& number) {
  return number.defined() && number.grad().defined() ? number.grad().item<double>() : 0;
}

}  // namespace

BatchProblem SetParameter(EmbeddingBatch& batch, const std::string& name,
                          const config::Value& value) {
  const std::string field = "parameters." + name;
  if (batch.params.Knows(name)) return {field, batch.params.Set(name, value)};
  std::vector<std::string_view> known;
  for (const config::ParamInfo& info : batch.params.infos()) known.push_back(info.name);
  return {field, fmt::format("is unknown for the objective {}{}", batch.objective->name,
                             DidYouMean(name, known))};
}

BatchProblem ParametersProblem(const EmbeddingBatch& batch) {
  if (batch.objective->problem == nullptr) return {};
  const config::ParamProblem problem = batch.objective->problem(batch.params);
  return {fmt::format("parameters.{}", problem.name), problem.text};
}

BatchProblem ValuesProblem(const EmbeddingBatch& batch) {
  for (const int64_t column : batch.positive) {
    if (column >= 0 && column < batch.documents.rows) continue;
    return {"positive", fmt::format("must name columns from 0 to {}, found {}",
                                    batch.documents.rows - 1, column)};
  }
  for (const double weight : batch.weights) {
    if (weight >= 0) continue;
    return {"weights", fmt::format("must be 0 or more, found {}", weight)};
  }
  for (const auto& [field, scores] :
       {std::pair{"parameters.bank_positives", &batch.bank_positives},
        std::pair{"parameters.bank_negatives", &batch.bank_negatives}}) {
    if (!scores->empty() && !batch.params.Knows("bank")) {
      return {field, fmt::format("are scores of earlier batches, which the objective {} does not "
                                 "compare with: leave them out, or take mann_whitney",
                                 batch.objective->name)};
    }
    for (const double score : *scores) {
      if (!std::isfinite(score)) return {field, fmt::format("must be finite, found {}", score)};
    }
  }
  if (!batch.objective->needs(batch.params).grades) return {};
  for (size_t i = 0; i < batch.relevance.values.size(); ++i) {
    const double grade = batch.relevance.values[i];
    if (batch.labelled.values[i] == 0 || (grade >= 0 && grade <= 1)) continue;
    return {"relevance", fmt::format("must be from 0 to 1 where labelled, found {}", grade)};
  }
  return {};
}

Labels LabelsOf(const EmbeddingBatch& batch) {
  return {.positive = tensor::FromBlob(const_cast<int64_t*>(batch.positive.data()),
                                       {batch.queries.rows}, tensor::kLong),
          .negative = MaskOf(batch.negative),
          .query_negative = MaskOf(batch.query_negative),
          .document_negative = MaskOf(batch.document_negative),
          .labelled = LabelledCellsOf(batch),
          .weights = batch.weights};
}

EmbeddingLoss EvaluateEmbeddings(const EmbeddingBatch& batch, tensor::DType dtype) {
  const tensor::Tensor queries = LeafOf(batch.queries, dtype);
  const tensor::Tensor documents = LeafOf(batch.documents, dtype);
  const Labels labels = LabelsOf(batch);
  const Scores scores = SimilarityScores(queries, documents, labels.positive,
                                         SimilarityOf(batch.params, kSimilarityWithoutModel),
                                         batch.objective->needs(batch.params));
  const auto objective = MakeObjective(*batch.objective, batch.params);
  const States states = StatesOf(batch, *objective, scores, labels);
  const Loss loss = objective->Evaluate(scores, labels, states);
  loss.value.backward();
  const auto gradient = [](const tensor::Tensor& leaf) {
    return leaf.grad().defined() ? leaf.grad() : tensor::ZerosLike(leaf);
  };
  return {.loss = loss.value.item<double>(),
          .losses = loss.losses,
          .grad_queries = gradient(queries),
          .grad_documents = gradient(documents),
          .query_document = scores.query_document.detach(),
          .bias = ScalarOf(states.bias).value_or(0),
          .grad_scale = GradientOf(states.scale),
          .grad_bias = GradientOf(states.bias)};
}

}  // namespace tandem::objective
