#include "tensor/core/gradients/sparse_rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/values.h"

namespace tandem::tensor {
namespace {

using Numbers = std::vector<double>;

// Rows of width 2, both numbers of a row the same.
SparseRows Rows(const std::vector<int64_t>& rows, const Numbers& numbers) {
  Numbers values;
  for (const double number : numbers) values.insert(values.end(), {number, number});
  const auto count = static_cast<int64_t>(rows.size());
  return {Of<int64_t>({count}, rows), Doubles({count, 2}, values)};
}

Numbers FirstColumn(const Tensor& table) {
  Numbers column;
  const Tensor whole = Dense(*table.row_grad(), table.sizes());
  for (int64_t row = 0; row < whole.size(0); ++row) column.push_back(whole[row][0].item<double>());
  return column;
}

Tensor Table(int64_t rows) { return Zeros({rows, 2}, kDouble).set_requires_grad(true); }

TEST(SparseRows, OfSeveralPassesAreAddedRowByRow) {
  const Tensor table = Table(6);
  EXPECT_EQ(table.row_grad(), nullptr);
  AddRowGradient(table, Rows({1, 4}, {1, 2}));
  EXPECT_EQ(FirstColumn(table), (Numbers{0, 1, 0, 0, 2, 0}));
  AddRowGradient(table, Rows({0, 4, 5}, {16, 32, 64}));
  AddRowGradient(table, Rows({}, {}));
  AddRowGradient(table, Rows({1, 2}, {128, 256}));
  EXPECT_EQ(FirstColumn(table), (Numbers{16, 129, 256, 0, 34, 64}));
  EXPECT_EQ(ValuesOf<int64_t>(table.row_grad()->rows), (std::vector<int64_t>{0, 1, 2, 4, 5}));
  EXPECT_EQ(Mistake([&] { table.grad(); }),
            "grad: the gradient of float64 [6, 2] is rows: read row_grad()");
  table.set_grad({});
  EXPECT_EQ(table.row_grad(), nullptr);
  EXPECT_FALSE(table.grad().defined());
}

TEST(SparseRows, AreAddedToAWholeGradient) {
  const Tensor table = Table(3);
  table.set_grad(Full({3, 2}, 1, kDouble));
  AddRowGradient(table, Rows({0, 2}, {4, 8}));
  EXPECT_EQ(table.row_grad(), nullptr);
  EXPECT_EQ(DoublesOf(table.grad()), (Numbers{5, 5, 1, 1, 9, 9}));
}

TEST(SparseRows, BecomeWholeWhereAWholeGradientComes) {
  const Tensor table = Table(3);
  AddRowGradient(table, Rows({1}, {4}));
  Sum(table).backward();
  EXPECT_EQ(table.row_grad(), nullptr);
  EXPECT_EQ(DoublesOf(table.grad()), (Numbers{1, 1, 5, 5, 1, 1}));
}

// As the embedding operation does it: the closure adds the rows, and returns no gradient.
TEST(SparseRows, ComeFromClosures) {
  const Tensor table = Table(4);
  int hooks = 0;
  AddGradientHook(table, [&hooks] { ++hooks; });
  const auto read = [&](int64_t row) {
    return WithBackward("Read", Doubles({}, {0}), {table}, [table, row](const Tensor& grad) {
      AddRowGradient(table, Rows({row}, {grad.item<double>()}));
      return std::vector<Tensor>(1);
    });
  };
  Add(Mul(read(2), 3), Add(read(0), read(2))).backward();
  EXPECT_EQ(FirstColumn(table), (Numbers{1, 0, 4, 0}));
  EXPECT_EQ(hooks, 1);
}

TEST(SparseRows, AreSumsInTheOrderOfTheList) {
  // (1 + e) + e is 1, and e + e + 1 is more, for e of half a unit in the last place.
  constexpr double kSmall = 0x1p-53;
  const SparseRows sums = SumByRow(Of<int32_t>({7}, {3, 1, 0, 1, 0, 1, 0}),
                                   Doubles({7, 1}, {5, 1, kSmall, kSmall, kSmall, kSmall, 1}));
  EXPECT_EQ(ValuesOf<int64_t>(sums.rows), (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(DoublesOf(sums.values), (Numbers{1 + 2 * kSmall, 1, 5}));
  EXPECT_EQ(SumByRow(Of<int64_t>({0}, {}), Zeros({0, 4}, kFloat)).values.Text(), "float32 [0, 4]");
}

TEST(SparseRows, MustFitTheirTable) {
  const Tensor table = Table(3);
  EXPECT_EQ(Mistake([&] {
              AddRowGradient(table, Rows({1, 3}, {1, 1}));
            }),
            "AddRowGradient: expected increasing rows of float64 [3, 2], found row 3");
  EXPECT_EQ(Mistake([&] {
              AddRowGradient(table, Rows({1, 1}, {1, 1}));
            }),
            "AddRowGradient: expected increasing rows of float64 [3, 2], found row 1");
  EXPECT_EQ(Mistake([&] {
              AddRowGradient(table, {Of<int64_t>({1}, {1}), Zeros({1, 3}, kDouble)});
            }),
            "AddRowGradient: expected values of the rows of float64 [3, 2], found float64 [1, 3]");
  EXPECT_EQ(Mistake([&] {
              SumByRow(Of<int64_t>({1}, {1}), Zeros({2, 3}, kDouble));
            }),
            "SumByRow: expected rows [n] and floating values [n, width], found int64 [1] and "
            "float64 [2, 3]");
  EXPECT_EQ(Mistake([&] { AddRowGradient(Mul(table, 2), Rows({1}, {1})); }),
            "AddRowGradient: expected a leaf, which alone keeps a gradient, found an operation's "
            "output float64 [3, 2]");
}

}  // namespace
}  // namespace tandem::tensor
