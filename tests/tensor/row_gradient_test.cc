#include "tensor/row_gradient.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <vector>

namespace tandem::tensor {
namespace {

at::Tensor Rows(const std::vector<int64_t>& rows) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(rows.size())}, at::kLong);
  std::ranges::copy(rows, tensor.data_ptr<int64_t>());
  return tensor;
}

// Rows of width 2, all of the numbers of a row the same.
RowGradient Gradient(const std::vector<int64_t>& rows, const std::vector<float>& numbers) {
  at::Tensor values = at::empty({static_cast<int64_t>(rows.size()), 2}, at::kFloat);
  for (size_t r = 0; r < numbers.size(); ++r) values[static_cast<int64_t>(r)].fill_(numbers[r]);
  return {Rows(rows), values};
}

std::vector<float> FirstColumn(const at::Tensor& gradient) {
  const at::Tensor column = gradient.to_dense().select(1, 0).contiguous();
  return {column.data_ptr<float>(), column.data_ptr<float>() + column.numel()};
}

std::vector<int64_t> Numbers(const at::Tensor& rows) {
  return {rows.data_ptr<int64_t>(), rows.data_ptr<int64_t>() + rows.numel()};
}

TEST(RowGradient, IndexNamesEachRowOnceInOrder) {
  const std::vector<int32_t> rows = {7, 2, 7, 0, 2, 9};
  const RowIndex index = IndexRows(rows.data(), 6, 10);
  EXPECT_EQ(Numbers(index.rows), (std::vector<int64_t>{0, 2, 7, 9}));
  EXPECT_EQ(index.indices, (std::vector<int32_t>{2, 1, 2, 0, 1, 3}));
  EXPECT_EQ(IndexRows(rows.data(), 0, 10).rows.numel(), 0);
}

TEST(RowGradient, OfSeveralPassesAreAddedRowByRow) {
  at::Tensor table = at::zeros({6, 2}).set_requires_grad(true);
  AddRowGradient(table, Gradient({1, 4}, {1, 2}));
  ASSERT_TRUE(table.grad().is_sparse());
  EXPECT_EQ(FirstColumn(table.grad()), (std::vector<float>{0, 1, 0, 0, 2, 0}));
  AddRowGradient(table, Gradient({0, 4, 5}, {16, 32, 64}));
  AddRowGradient(table, Gradient({}, {}));
  AddRowGradient(table, Gradient({1, 2}, {128, 256}));
  EXPECT_EQ(FirstColumn(table.grad()), (std::vector<float>{16, 129, 256, 0, 34, 64}));
  const RowGradient sum = RowsOf(table.grad());
  EXPECT_EQ(Numbers(sum.rows), (std::vector<int64_t>{0, 1, 2, 4, 5}));
}

TEST(RowGradient, IsAddedToAWholeOne) {
  at::Tensor table = at::zeros({3, 2}).set_requires_grad(true);
  table.mutable_grad() = at::full({3, 2}, 1.0F);
  AddRowGradient(table, Gradient({0, 2}, {4, 8}));
  EXPECT_FALSE(table.grad().is_sparse());
  EXPECT_EQ(FirstColumn(table.grad()), (std::vector<float>{5, 1, 9}));
}

// libtorch's own sums of sparse gradients name rows twice.
TEST(RowGradient, ThatNamesARowTwiceIsAddedUp) {
  at::Tensor table = at::zeros({4, 2}).set_requires_grad(true);
  AddRowGradient(table, Gradient({1, 3}, {1, 2}));
  const at::Tensor twice = table.grad().clone()._coalesced_(false);
  const at::Tensor sum = twice.add(table.grad().clone()._coalesced_(false));
  const RowGradient rows = RowsOf(sum);
  EXPECT_EQ(Numbers(rows.rows), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(rows.values[1][0].item<float>(), 4);
}

}  // namespace
}  // namespace tandem::tensor
