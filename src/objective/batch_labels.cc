#include "objective/batch_labels.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <stdexcept>

#include "base/error.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {
namespace {

void CheckShape(const tensor::Tensor& tensor, const tensor::Shape& shape, const char* name,
                bool needed) {
  if (!tensor.defined() && !needed) return;
  if (!tensor.defined()) throw std::logic_error(fmt::format("this objective needs {}", name));
  if (tensor.sizes() != shape) throw std::logic_error(fmt::format("{} has a wrong shape", name));
}

void CheckLabelled(const LabelledCells& labelled, int64_t queries, int64_t documents) {
  const auto rows = static_cast<size_t>(queries);
  if (labelled.empty()) throw std::logic_error("this objective needs labels.labelled");
  const bool complete = labelled.row_starts.size() == rows + 1 && labelled.row_starts[0] == 0 &&
                        labelled.row_starts[rows] == std::ssize(labelled.cells) &&
                        labelled.own_grades.size() == rows && labelled.own_teachers.size() == rows;
  if (!complete) throw std::logic_error("labels.labelled has a wrong shape");
  for (size_t row = 0; row < rows; ++row) {
    int64_t least = 0;
    for (int64_t i = labelled.row_starts[row]; i < labelled.row_starts[row + 1]; ++i) {
      const int64_t column = labelled.cells[static_cast<size_t>(i)].column;
      if (column < least || column >= documents) {
        throw std::logic_error("the columns of a row of labels.labelled do not ascend");
      }
      least = column + 1;
    }
  }
}

void CheckFinite(double value, const char* what, int64_t row, int64_t column) {
  if (std::isfinite(value)) return;
  throw NumericError(fmt::format("the {} of query {} and document {} is {}: it must be finite",
                                 what, row, column, value));
}

}  // namespace

int64_t SameTowerColumns(const Scores& scores) {
  for (const tensor::Tensor* matrix : {&scores.query_query, &scores.document_document}) {
    if (matrix->defined()) return matrix->size(1);
  }
  return scores.query_document.size(0);
}

void CheckShapes(const Scores& scores, const Labels& labels, const Needs& needs) {
  const int64_t q = scores.query_document.size(0);
  const int64_t d = scores.query_document.size(1);
  CheckShape(labels.positive, {q}, "labels.positive", true);
  CheckShape(labels.negative, {q, d}, "labels.negative", true);
  const int64_t s = SameTowerColumns(scores);
  if (needs.query_query) {
    CheckShape(scores.query_query, {q, s}, "scores.query_query", true);
    CheckShape(labels.query_negative, {q, s}, "labels.query_negative", true);
  }
  if (needs.document_document) {
    CheckShape(scores.document_document, {q, s}, "scores.document_document", true);
    CheckShape(labels.document_negative, {q, s}, "labels.document_negative", true);
  }
}

void UseLabelled(const LabelledCells& labelled, const Needs& needs, Batch& batch) {
  CheckLabelled(labelled, batch.queries, batch.documents);
  for (int64_t row = 0; row < batch.queries; ++row) {
    const auto check = [&](int64_t column, double grade, double teacher) {
      if (needs.grades) CheckFinite(grade, "grade", row, column);
      if (needs.teacher) CheckFinite(teacher, "teacher score", row, column);
    };
    const auto at = static_cast<size_t>(row);
    check(batch.positive[row], labelled.own_grades[at], labelled.own_teachers[at]);
    for (int64_t i = labelled.row_starts[at]; i < labelled.row_starts[at + 1]; ++i) {
      const LabelledCell& cell = labelled.cells[static_cast<size_t>(i)];
      check(cell.column, cell.grade, cell.teacher);
    }
  }
  batch.labelled = labelled.cells.data();
  batch.labelled_begin = labelled.row_starts.data();
  batch.own_grades = labelled.own_grades.data();
  batch.own_teacher = labelled.own_teachers.data();
}

void UseWeights(const std::vector<double>& weights, Batch& batch) {
  if (weights.empty()) return;
  if (std::ssize(weights) != batch.queries) {
    throw std::logic_error("labels.weights has a wrong shape");
  }
  for (const double weight : weights) {
    if (weight >= 0 && std::isfinite(weight)) continue;
    throw std::logic_error(fmt::format("labels.weights has the weight {}", weight));
  }
  batch.weights = weights.data();
}

void CheckColumns(const Batch& batch) {
  for (int64_t i = 0; i < batch.queries; ++i) {
    if (batch.positive[i] < 0 || batch.positive[i] >= batch.documents) {
      throw std::logic_error("labels.positive names a column that does not exist");
    }
  }
}

}  // namespace tandem::objective
