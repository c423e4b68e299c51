#include "objective/batch_arrays.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "base/error.h"

namespace tandem::objective {
namespace {

at::Tensor AsDouble(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  return tensor.detach().to(at::kCPU, at::kDouble).contiguous();
}

at::Tensor AsMask(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.to(at::kCPU, at::kBool).contiguous() : tensor;
}

const double* Doubles(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<double>() : nullptr;
}

const bool* Bools(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<bool>() : nullptr;
}

std::span<const double> Span(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.data_ptr<double>(), static_cast<size_t>(tensor.numel())};
}

std::optional<double> Scalar(const at::Tensor& tensor) {
  if (!tensor.defined()) return std::nullopt;
  return tensor.item<double>();
}

void CheckFinite(const at::Tensor& scores, const char* rows, const char* columns) {
  if (!scores.defined()) return;
  const double* values = scores.data_ptr<double>();
  for (int64_t i = 0; i < scores.numel(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw NumericError(fmt::format("the score of {} {} and {} {} is {}: it must be finite", rows,
                                   i / scores.size(1), columns, i % scores.size(1), values[i]));
  }
}

void CheckShape(const at::Tensor& tensor, at::IntArrayRef shape, const char* name, bool needed) {
  if (!tensor.defined() && !needed) return;
  if (!tensor.defined()) throw std::logic_error(fmt::format("this objective needs {}", name));
  if (tensor.sizes() != shape) throw std::logic_error(fmt::format("{} has a wrong shape", name));
}

void CheckShapes(const Scores& scores, const Labels& labels, const Needs& needs) {
  const int64_t q = scores.query_document.size(0);
  const int64_t d = scores.query_document.size(1);
  CheckShape(labels.positive, {q}, "labels.positive", true);
  CheckShape(labels.negative, {q, d}, "labels.negative", true);
  CheckShape(labels.grades, {q, d}, "labels.grades", needs.grades);
  CheckShape(labels.labelled, {q, d}, "labels.labelled", needs.grades || needs.teacher);
  CheckShape(labels.teacher, {q, d}, "labels.teacher", needs.teacher);
  CheckShape(scores.query_query, {q, q}, "scores.query_query", needs.query_query);
  CheckShape(labels.query_negative, {q, q}, "labels.query_negative", needs.query_query);
  CheckShape(scores.document_document, {q, q}, "scores.document_document", needs.document_document);
  CheckShape(labels.document_negative, {q, q}, "labels.document_negative", needs.document_document);
}

// One number of a floating matrix of either dtype; 0 for a matrix that is not needed.
class Lookup {
 public:
  Lookup(const at::Tensor& matrix, const char* what, bool needed) : what_(what) {
    if (!needed) return;
    matrix_ = matrix.detach().to(at::kCPU).contiguous();
    if (matrix_.scalar_type() != at::kFloat) matrix_ = matrix_.to(at::kDouble);
    floats_ = matrix_.scalar_type() == at::kFloat ? matrix_.data_ptr<float>() : nullptr;
    doubles_ = floats_ == nullptr ? matrix_.data_ptr<double>() : nullptr;
  }

  double At(int64_t cell) const {
    if (floats_ == nullptr && doubles_ == nullptr) return 0;
    const double value = floats_ != nullptr ? static_cast<double>(floats_[cell]) : doubles_[cell];
    if (std::isfinite(value)) return value;
    throw NumericError(fmt::format("the {} of query {} and document {} is {}: it must be finite",
                                   what_, cell / matrix_.size(1), cell % matrix_.size(1), value));
  }

 private:
  const char* what_;
  at::Tensor matrix_;
  const float* floats_ = nullptr;
  const double* doubles_ = nullptr;
};

void PickLabels(const Labels& labels, const Needs& needs, BatchArrays& a) {
  const int64_t rows = a.query_document.size(0);
  const int64_t columns = a.query_document.size(1);
  const Lookup grades(labels.grades, "grade", needs.grades);
  const Lookup teacher(labels.teacher, "teacher score", needs.teacher);
  const at::Tensor mask = AsMask(labels.labelled);
  a.labelled_begin.push_back(0);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t cell = row * columns; cell < (row + 1) * columns; ++cell) {
      if (!mask.data_ptr<bool>()[cell]) continue;
      a.labelled.push_back({cell - row * columns, grades.At(cell), teacher.At(cell)});
    }
    a.labelled_begin.push_back(static_cast<int64_t>(a.labelled.size()));
    const int64_t own = row * columns + a.positive.data_ptr<int64_t>()[row];
    a.own_grades.push_back(grades.At(own));
    a.own_teacher.push_back(teacher.At(own));
  }
  a.batch.labelled = a.labelled.data();
  a.batch.labelled_begin = a.labelled_begin.data();
  a.batch.own_grades = a.own_grades.data();
  a.batch.own_teacher = a.own_teacher.data();
}

void CheckColumns(const Batch& batch) {
  for (int64_t i = 0; i < batch.queries; ++i) {
    if (batch.positive[i] < 0 || batch.positive[i] >= batch.documents) {
      throw std::logic_error("labels.positive names a column that there is not");
    }
  }
}

}  // namespace

BatchArrays MakeBatchArrays(const Scores& scores, const Labels& labels, const States& states,
                            const Needs& needs) {
  CheckShapes(scores, labels, needs);
  BatchArrays a{.query_document = AsDouble(scores.query_document),
                .query_query = AsDouble(scores.query_query),
                .document_document = AsDouble(scores.document_document),
                .positive = labels.positive.to(at::kCPU, at::kLong).contiguous(),
                .negative = AsMask(labels.negative),
                .query_negative = AsMask(labels.query_negative),
                .document_negative = AsMask(labels.document_negative),
                .bank_positives = AsDouble(states.bank_positives),
                .bank_negatives = AsDouble(states.bank_negatives)};
  CheckFinite(a.query_document, "query", "document");
  CheckFinite(a.query_query, "query", "query");
  CheckFinite(a.document_document, "document", "document");
  a.batch = {.queries = a.query_document.size(0),
             .documents = a.query_document.size(1),
             .query_document = Doubles(a.query_document),
             .query_query = Doubles(a.query_query),
             .document_document = Doubles(a.document_document),
             .positive = a.positive.data_ptr<int64_t>(),
             .negative = Bools(a.negative),
             .query_negative = Bools(a.query_negative),
             .document_negative = Bools(a.document_negative),
             .bank_positives = Span(a.bank_positives),
             .bank_negatives = Span(a.bank_negatives),
             .scale = Scalar(states.scale),
             .bias = Scalar(states.bias),
             .threads = at::get_num_threads()};
  CheckColumns(a.batch);
  if (needs.grades || needs.teacher) PickLabels(labels, needs, a);
  return a;
}

}  // namespace tandem::objective
