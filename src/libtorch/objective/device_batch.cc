#include "libtorch/objective/device_batch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "libtorch/bridge.h"
#include "objective/batch_arrays.h"
#include "objective/batch_labels.h"
#include "tensor/core/parallel.h"

namespace tandem::libtorch {
namespace {

at::Tensor DeviceDoubles(const tensor::Tensor& scores) {
  return scores.defined() ? AsTorch(scores).to(at::kDouble) : at::Tensor();
}

at::Tensor Mask(const tensor::Tensor& mask, at::Device device) {
  return mask.defined() ? AsTorch(mask).to(device, at::kBool) : at::Tensor();
}

at::Tensor OnHost(const tensor::Tensor& numbers, at::ScalarType type) {
  return numbers.defined() ? AsTorch(numbers).to(at::kCPU, type) : at::Tensor();
}

std::span<const double> SpanOf(const at::Tensor& numbers) {
  if (!numbers.defined()) return {};
  return {numbers.data_ptr<double>(), static_cast<size_t>(numbers.numel())};
}

at::Tensor DoublesOf(std::span<const double> values, at::Device device) {
  const at::Tensor tensor = at::empty({std::ssize(values)}, at::kDouble);
  std::copy(values.begin(), values.end(), tensor.data_ptr<double>());
  return tensor.to(device);
}

void CheckDeviceFinite(const at::Tensor& scores, const char* rows, const char* columns) {
  if (!scores.defined()) return;
  const at::Tensor finite = at::isfinite(scores);
  if (finite.all().item<bool>()) return;
  const auto cell = at::nonzero(at::logical_not(finite).flatten())[0].item<int64_t>();
  const int64_t row = cell / scores.size(1), column = cell % scores.size(1);
  throw NumericError(fmt::format("the score of {} {} and {} {} is {}: it must be finite", rows, row,
                                 columns, column, scores[row][column].item<double>()));
}

LabelledTensors MakeLabelled(const objective::LabelledCells& labelled, const at::Tensor& negative) {
  const at::Device device = negative.device();
  const int64_t queries = negative.size(0), documents = negative.size(1);
  int64_t most = 1;
  for (int64_t row = 0; row < queries; ++row) {
    const auto at = static_cast<size_t>(row);
    most = std::max(most, labelled.row_starts[at + 1] - labelled.row_starts[at]);
  }
  const at::Tensor cells = at::empty({std::ssize(labelled.cells)}, at::kLong);
  const at::Tensor columns = at::zeros({queries, most}, at::kLong);
  const at::Tensor valid = at::zeros({queries, most}, at::kBool);
  const at::Tensor grades = at::zeros({queries, most}, at::kDouble);
  const at::Tensor teachers = at::zeros({queries, most}, at::kDouble);
  for (int64_t row = 0; row < queries; ++row) {
    const int64_t begin = labelled.row_starts[static_cast<size_t>(row)];
    const int64_t end = labelled.row_starts[static_cast<size_t>(row) + 1];
    for (int64_t i = begin; i < end; ++i) {
      const objective::LabelledCell& cell = labelled.cells[static_cast<size_t>(i)];
      const int64_t at = row * most + i - begin;
      cells.data_ptr<int64_t>()[i] = row * documents + cell.column;
      columns.data_ptr<int64_t>()[at] = cell.column;
      valid.data_ptr<bool>()[at] = true;
      grades.data_ptr<double>()[at] = cell.grade;
      teachers.data_ptr<double>()[at] = cell.teacher;
    }
  }
  LabelledTensors made{.cells = cells.to(device),
                       .columns = columns.to(device),
                       .valid = valid.to(device),
                       .grades = grades.to(device),
                       .teachers = teachers.to(device),
                       .own_grades = DoublesOf(labelled.own_grades, device),
                       .own_teachers = DoublesOf(labelled.own_teachers, device),
                       .negative = negative.clone()};
  made.negative.view(-1).index_fill_(0, made.cells, false);
  return made;
}

// Sizes, states and labels: what is small.
objective::Batch HostPart(const objective::Scores& scores, const objective::States& states,
                          const at::Tensor& positive, const DeviceBatch& batch) {
  objective::Batch host{.queries = scores.query_document.size(0),
                        .documents = scores.query_document.size(1),
                        .same_tower = objective::SameTowerColumns(scores),
                        .positive = positive.data_ptr<int64_t>(),
                        .bank_positives = SpanOf(batch.bank_positives),
                        .bank_negatives = SpanOf(batch.bank_negatives),
                        .scale = objective::ScalarOf(states.scale),
                        .bias = objective::ScalarOf(states.bias),
                        .threads = tensor::ThreadCount()};
  objective::CheckColumns(host);
  return host;
}

}  // namespace

DeviceBatch MakeDeviceBatch(const objective::Scores& scores, const objective::Labels& labels,
                            const objective::States& states, const objective::Needs& needs) {
  objective::CheckShapes(scores, labels, needs);
  const at::Tensor query_document = DeviceDoubles(scores.query_document);
  const at::Device device = query_document.device();
  DeviceBatch batch{.query_document = query_document,
                    .query_query = DeviceDoubles(scores.query_query),
                    .document_document = DeviceDoubles(scores.document_document),
                    .negative = Mask(labels.negative, device),
                    .query_negative = Mask(labels.query_negative, device),
                    .document_negative = Mask(labels.document_negative, device),
                    .bank_positives = OnHost(states.bank_positives, at::kDouble),
                    .bank_negatives = OnHost(states.bank_negatives, at::kDouble)};
  CheckDeviceFinite(batch.query_document, "query", "document");
  CheckDeviceFinite(batch.query_query, "query", "query");
  CheckDeviceFinite(batch.document_document, "document", "document");
  const at::Tensor positive = OnHost(labels.positive, at::kLong);
  batch.host = HostPart(scores, states, positive, batch);
  objective::UseWeights(labels.weights, batch.host);
  batch.positive = positive.to(device);
  batch.own_cells =
      at::arange(batch.host.queries, batch.positive.options()).mul(batch.host.documents) +
      batch.positive;
  batch.own_scores = batch.query_document.view(-1).index_select(0, batch.own_cells);
  batch.weights = labels.weights.empty()
                      ? at::ones({batch.host.queries}, batch.query_document.options())
                      : DoublesOf(labels.weights, device);
  if (needs.grades || needs.teacher) {
    objective::UseLabelled(labels.labelled, needs, batch.host);
    batch.labelled = MakeLabelled(labels.labelled, batch.negative);
  }
  batch.host.positive = nullptr;  // dies with this function; batch.positive stays
  return batch;
}

}  // namespace tandem::libtorch
