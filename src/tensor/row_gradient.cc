#include "tensor/row_gradient.h"

#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

namespace tandem::tensor {
namespace {

// Writes sums of rows of two gradients, in the order of rows.
class Merger {
 public:
  Merger(const RowGradient& a, const RowGradient& b)
      : a_(a), b_(b), width_(a.values.size(1)), rows_(at::empty({MostRows()}, at::kLong)) {
    const int64_t *of_a = a.rows.data_ptr<int64_t>(), *of_b = b.rows.data_ptr<int64_t>();
    auto* rows = rows_.data_ptr<int64_t>();
    count_ = std::set_union(of_a, of_a + a.rows.numel(), of_b, of_b + b.rows.numel(), rows) - rows;
  }

  RowGradient Merge() const {
    const RowGradient sum{rows_.narrow(0, 0, count_).clone(),
                          at::empty({count_, width_}, at::kFloat)};
    int64_t in_a = 0, in_b = 0;
    for (int64_t r = 0; r < count_; ++r) {
      const int64_t row = rows_.data_ptr<int64_t>()[r];
      float* to = sum.values.data_ptr<float>() + r * width_;
      const float* from_a = Next(a_, row, &in_a);
      const float* from_b = Next(b_, row, &in_b);
      if (from_a && from_b) {
        for (int64_t c = 0; c < width_; ++c) to[c] = from_a[c] + from_b[c];
      } else {
        std::copy_n(from_a ? from_a : from_b, width_, to);
      }
    }
    return sum;
  }

 private:
  int64_t MostRows() const { return a_.rows.numel() + b_.rows.numel(); }
  // `row` of the gradient, if it is the one at `index`, which then moves on.
  const float* Next(const RowGradient& gradient, int64_t row, int64_t* index) const {
    if (*index == gradient.rows.numel()) return nullptr;
    if (gradient.rows.data_ptr<int64_t>()[*index] != row) return nullptr;
    return gradient.values.data_ptr<float>() + (*index)++ * width_;
  }

  const RowGradient& a_;
  const RowGradient& b_;
  int64_t width_;
  at::Tensor rows_;
  int64_t count_ = 0;
};

at::Tensor Sparse(const RowGradient& gradient, at::IntArrayRef sizes) {
  const at::Tensor sparse =
      at::_sparse_coo_tensor_unsafe(gradient.rows.unsqueeze(0), gradient.values, sizes);
  return sparse._coalesced_(true);
}

}  // namespace

RowIndex IndexRows(const int32_t* rows, int64_t count, int64_t table_rows) {
  constexpr int32_t kAbsent = -1, kPresent = 0;
  std::vector<int32_t> index_of(static_cast<size_t>(table_rows), kAbsent);
  for (int64_t i = 0; i < count; ++i) index_of[rows[i]] = kPresent;
  int32_t different = 0;
  for (int32_t& index : index_of) {
    if (index == kPresent) index = different++;
  }
  RowIndex result{at::empty({different}, at::kLong), {}};
  auto* to = result.rows.data_ptr<int64_t>();
  for (int64_t row = 0; row < table_rows; ++row) {
    if (index_of[row] != kAbsent) *to++ = row;
  }
  result.indices.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) result.indices.push_back(index_of[rows[i]]);
  return result;
}

void AddRowGradient(const at::Tensor& table, const RowGradient& gradient) {
  at::Tensor& sum = table.mutable_grad();
  if (!sum.defined()) {
    sum = Sparse(gradient, table.sizes());
  } else if (sum.is_sparse()) {
    sum = Sparse(Merger(RowsOf(sum), gradient).Merge(), table.sizes());
  } else {
    sum.index_add_(0, gradient.rows, gradient.values);
  }
}

RowGradient RowsOf(const at::Tensor& gradient) {
  const at::Tensor sum = gradient.coalesce();
  return {sum._indices().select(0, 0).contiguous(), sum._values().contiguous()};
}

}  // namespace tandem::tensor
