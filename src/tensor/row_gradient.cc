#include "tensor/row_gradient.h"

#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <stdexcept>

namespace tandem::tensor {
namespace {

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

void ExpectLeaf(const at::Tensor& table, std::string_view operation) {
  if (table.is_leaf()) return;
  throw std::logic_error(
      fmt::format("{}: a word table that wants a gradient must be a leaf", operation));
}

void AddRowGradient(const at::Tensor& table, const RowGradient& gradient) {
  at::Tensor& sum = table.mutable_grad();
  if (!sum.defined()) {
    sum = Sparse(gradient, table.sizes());
  } else if (sum.is_sparse()) {
    // The sum is coalesced in every pass; else the list of rows would grow with each.
    sum = sum.add(Sparse(gradient, table.sizes())).coalesce();
  } else {
    sum.index_add_(0, gradient.rows, gradient.values);
  }
}

RowGradient SumByRow(const at::Tensor& table, const at::Tensor& rows, const at::Tensor& values) {
  return RowsOf(at::_sparse_coo_tensor_unsafe(rows.to(at::kLong).unsqueeze(0),
                                              values.to(table.scalar_type()), table.sizes()));
}

RowGradient RowsOf(const at::Tensor& gradient) {
  const at::Tensor sum = gradient.coalesce();
  return {sum._indices().select(0, 0).contiguous(), sum._values().contiguous()};
}

}  // namespace tandem::tensor
