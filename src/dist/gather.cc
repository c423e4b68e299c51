#include "dist/gather.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace tandem::dist {
namespace {

// `rows` [n, E] with zeros below, [most, E].
at::Tensor Padded(const at::Tensor& rows, int64_t most) {
  const int64_t missing = most - rows.size(0);
  if (missing == 0) return rows;
  return at::cat({rows, at::zeros({missing, rows.size(1)}, rows.options())});
}

// The tensor where the group takes it: itself, or a copy on the host.
at::Tensor ForGroup(const ProcessGroup& group, const at::Tensor& tensor) {
  return group.Takes(tensor.device()) ? tensor : tensor.to(at::kCPU);
}

at::Tensor IndexTensor(const std::vector<int64_t>& values) {
  const at::Tensor tensor = at::empty({std::ssize(values)}, at::kLong);
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
  place_ = at::empty({total}, at::kLong);
  row_of_ = at::full({std::ssize(rows_of) * most_}, total, at::kLong);
  auto* place = place_.data_ptr<int64_t>();
  auto* row_of = row_of_.data_ptr<int64_t>();
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

at::Tensor RowExchange::Gather(const at::Tensor& own) const {
  const at::Tensor all =
      group_.AllGather(ForGroup(group_, Padded(own.detach(), most_))).to(own.device());
  return all.flatten(0, 1).index_select(0, place_.to(all.device()));
}

at::Tensor RowExchange::AddUpOwn(const at::Tensor& gradient) const {
  // A row of zeros at the end, for the places that nobody's row takes.
  const at::Tensor padded =
      at::cat({gradient, at::zeros({1, gradient.size(1)}, gradient.options())});
  const at::Tensor for_all = padded.index_select(0, row_of_.to(gradient.device()))
                                 .view({group_.ranks(), most_, gradient.size(1)});
  const at::Tensor parts = group_.AllToAll(ForGroup(group_, for_all)).to(gradient.device());
  at::Tensor sum = parts[0].clone();
  for (int64_t rank = 1; rank < parts.size(0); ++rank) sum.add_(parts[rank]);
  return sum.narrow(0, 0, own_.size(0));
}

at::Tensor RowExchange::Own(const at::Tensor& all) const {
  return all.index_select(0, own_.to(all.device()));
}

}  // namespace tandem::dist
