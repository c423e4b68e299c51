#include "dist/gather.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "tensor/core/device_memory.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/make.h"

namespace tandem::dist {
namespace {

using tensor::Cat;
using tensor::kLong;
using tensor::MovedTo;
using tensor::TakeRows;
using tensor::Tensor;
using tensor::Zeros;

// `rows` [n, E] with `count` rows of zeros below.
Tensor WithZeros(const Tensor& rows, int64_t count) {
  return Cat({rows, Zeros({count, rows.size(1)}, rows.dtype(), rows.device())});
}

// The same with as many as make it [most, E].
Tensor Padded(const Tensor& rows, int64_t most) {
  const int64_t missing = most - rows.size(0);
  if (missing == 0) return rows;
  return WithZeros(rows, missing);
}

// The tensor where the group takes it: itself, or a copy on the host.
Tensor ForGroup(const ProcessGroup& group, const Tensor& tensor) {
  return group.Takes(tensor.device()) ? tensor : tensor::OnCpu(tensor);
}

Tensor IndexTensor(const std::vector<int64_t>& values) {
  const Tensor tensor = tensor::Empty({std::ssize(values)}, kLong);
  std::copy(values.begin(), values.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

}  // namespace

RowExchange::RowExchange(ProcessGroup& group, const std::vector<std::vector<int64_t>>& rows_of)
    : group_(group) {
  int64_t total = 0;
  for (const std::vector<int64_t>& rows : rows_of) {
    most_ = std::max<int64_t>(most_, std::ssize(rows));
    total += std::ssize(rows);
  }
  place_ = tensor::Empty({total}, kLong);
  row_of_ = tensor::Empty({std::ssize(rows_of) * most_}, kLong);
  auto* place = place_.data_ptr<int64_t>();
  auto* row_of = row_of_.data_ptr<int64_t>();
  std::fill(row_of, row_of + row_of_.numel(), total);
  for (int64_t rank = 0; rank < std::ssize(rows_of); ++rank) {
    const std::vector<int64_t>& rows = rows_of[static_cast<size_t>(rank)];
    for (int64_t i = 0; i < std::ssize(rows); ++i) {
      const int64_t at = rank * most_ + i;
      place[rows[static_cast<size_t>(i)]] = at;
      row_of[at] = rows[static_cast<size_t>(i)];
    }
  }
  own_ = IndexTensor(rows_of[static_cast<size_t>(group.rank())]);
}

RowExchange RowExchange::OfEvenShares(ProcessGroup& group, int64_t rows) {
  std::vector<std::vector<int64_t>> rows_of(static_cast<size_t>(group.ranks()));
  for (int rank = 0; rank < group.ranks(); ++rank) {
    const Share share = ShareOf(rows, rank, group.ranks());
    std::vector<int64_t>& own = rows_of[static_cast<size_t>(rank)];
    own.resize(static_cast<size_t>(share.size()));
    std::iota(own.begin(), own.end(), share.begin);
  }
  return RowExchange(group, rows_of);
}

Tensor RowExchange::Gather(const Tensor& own) const {
  const Tensor all =
      MovedTo(group_.AllGather(ForGroup(group_, Padded(own.detach(), most_))), own.device());
  return TakeRows(all.view({group_.ranks() * most_, own.size(1)}), MovedTo(place_, own.device()));
}

Tensor RowExchange::AddUpOwn(const Tensor& gradient) const {
  // A row of zeros at the end, for the places that nobody's row takes.
  const Tensor padded = WithZeros(gradient, 1);
  const Tensor for_all = TakeRows(padded, MovedTo(row_of_, gradient.device()))
                             .view({group_.ranks(), most_, gradient.size(1)});
  const Tensor parts = MovedTo(group_.AllToAll(ForGroup(group_, for_all)), gradient.device());
  const Tensor sum = parts[0].clone();
  for (int64_t rank = 1; rank < parts.size(0); ++rank) sum.add_(parts[rank]);
  return sum.narrow(0, 0, own_.size(0));
}

Tensor RowExchange::Own(const Tensor& all) const {
  return TakeRows(all, MovedTo(own_, all.device()));
}

}  // namespace tandem::dist
