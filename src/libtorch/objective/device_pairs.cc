#include "libtorch/objective/device_pairs.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <numeric>
#include <utility>

#include "libtorch/objective/device_math.h"
#include "objective/rows.h"

namespace tandem::libtorch {

GradedRows::GradedRows(const DeviceBatch& batch, int64_t first_row, int64_t rows)
    : begin(first_row), count(rows), scores(batch.query_document.narrow(0, begin, count)) {
  grades = at::full_like(scores, std::numeric_limits<double>::infinity())
               .masked_fill_(batch.labelled.negative.narrow(0, begin, count), 0);
  const int64_t first = batch.host.labelled_begin[begin];
  const int64_t last = batch.host.labelled_begin[begin + count];
  const at::Tensor cells =
      batch.labelled.cells.narrow(0, first, last - first).sub(begin * batch.host.documents);
  grades.view(-1).index_copy_(0, cells,
                              batch.labelled.grades.narrow(0, begin, count)
                                  .masked_select(batch.labelled.valid.narrow(0, begin, count)));
}

Leaders::Leaders(const DeviceBatch& batch, const GradedRows& rows, int64_t number)
    : columns(batch.labelled.columns.narrow(0, rows.begin, rows.count).narrow(1, number, 1)),
      grades(batch.labelled.grades.narrow(0, rows.begin, rows.count).narrow(1, number, 1)),
      scores(rows.scores.gather(1, columns)) {}

void PairLosses::Begin(const GradedRows& rows) {
  losses_.push_back(at::zeros({rows.count}, rows.scores.options()));
  pairs_.push_back(at::zeros({rows.count}, rows.scores.options()));
}

void PairLosses::Add(const DeviceBatch& batch, const GradedRows& rows, const Leaders& leaders,
                     const at::Tensor& mask, const at::Tensor& weight, double scale) {
  const auto weighed = [&](const at::Tensor& values) {
    return Allowed(weight.defined() ? values.mul(weight) : values, mask);
  };
  const SoftplusTensors pairs = SoftplusOf(rows.scores.sub(leaders.scores).mul_(scale));
  losses_.back().add_(weighed(pairs.value).sum(1));
  pairs_.back().add_(mask.sum(1));
  if (gradient_ == nullptr) return;
  const at::Tensor slopes =
      weighed(pairs.slope).mul_(Column(batch.weights.narrow(0, rows.begin, rows.count)).mul(scale));
  const at::Tensor gradient = gradient_->query_document.narrow(0, rows.begin, rows.count);
  gradient.add_(slopes);
  // One cell of each row: no two additions meet.
  gradient.scatter_add_(1, leaders.columns, slopes.sum(1, /*keepdim=*/true).neg_());
}

objective::Evaluation PairLosses::Finish(const DeviceBatch& batch, double factor) {
  std::vector<double> losses = ToVector(at::cat(losses_));
  const std::vector<double> pairs = ToVector(at::cat(pairs_));
  for (double& loss : losses) loss *= factor;
  const double count = std::accumulate(pairs.begin(), pairs.end(), 0.0);
  if (gradient_ != nullptr && count > 0) gradient_->query_document.mul_(factor / count);
  return objective::MeanOverPairs(batch.host, std::move(losses), pairs);
}

}  // namespace tandem::libtorch
