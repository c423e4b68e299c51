#include "objective/batch_arrays.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <span>

#include "base/error.h"
#include "objective/batch_labels.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"

namespace tandem::objective {
namespace {

tensor::Tensor AsDouble(const tensor::Tensor& tensor) {
  return tensor.defined() ? tensor::OnCpu(tensor.detach()).to(tensor::kDouble) : tensor;
}

tensor::Tensor AsMask(const tensor::Tensor& tensor) {
  return tensor.defined() ? tensor::OnCpu(tensor).to(tensor::kBool) : tensor;
}

const double* Doubles(const tensor::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<double>() : nullptr;
}

const bool* Bools(const tensor::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<bool>() : nullptr;
}

void CheckFinite(const tensor::Tensor& scores, const char* rows, const char* columns) {
  if (!scores.defined()) return;
  const double* values = scores.data_ptr<double>();
  for (int64_t i = 0; i < scores.numel(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw NumericError(fmt::format("the score of {} {} and {} {} is {}: it must be finite", rows,
                                   i / scores.size(1), columns, i % scores.size(1), values[i]));
  }
}

}  // namespace

std::span<const double> SpanOf(const tensor::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.data_ptr<double>(), static_cast<size_t>(tensor.numel())};
}

std::optional<double> ScalarOf(const tensor::Tensor& tensor) {
  if (!tensor.defined()) return std::nullopt;
  return tensor.item<double>();
}

BatchArrays MakeBatchArrays(const Scores& scores, const Labels& labels, const States& states,
                            const Needs& needs) {
  CheckShapes(scores, labels, needs);
  BatchArrays a{.query_document = AsDouble(scores.query_document),
                .query_query = AsDouble(scores.query_query),
                .document_document = AsDouble(scores.document_document),
                .positive = tensor::OnCpu(labels.positive).to(tensor::kLong),
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
             .same_tower = SameTowerColumns(scores),
             .query_document = Doubles(a.query_document),
             .query_query = Doubles(a.query_query),
             .document_document = Doubles(a.document_document),
             .positive = a.positive.data_ptr<int64_t>(),
             .negative = Bools(a.negative),
             .query_negative = Bools(a.query_negative),
             .document_negative = Bools(a.document_negative),
             .bank_positives = SpanOf(a.bank_positives),
             .bank_negatives = SpanOf(a.bank_negatives),
             .scale = ScalarOf(states.scale),
             .bias = ScalarOf(states.bias),
             .threads = tensor::ThreadCount()};
  CheckColumns(a.batch);
  UseWeights(labels.weights, a.batch);
  if (needs.grades || needs.teacher) UseLabelled(labels.labelled, needs, a.batch);
  return a;
}

}  // namespace tandem::objective
