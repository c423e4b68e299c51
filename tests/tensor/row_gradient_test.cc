#include "tensor/row_gradient.h"

#include <gtest/gtest.h>

#include <vector>

#include "tensor/arithmetic.h"

namespace tandem::tensor {
namespace {

TEST(RowIndex, NamesEachRowOnceInOrder) {
  const std::vector<int32_t> rows = {7, 2, 7, 0, 2, 9};
  const RowIndex index = IndexRows(rows.data(), 6, 10);
  EXPECT_EQ(ValuesOf<int64_t>(index.rows), (std::vector<int64_t>{0, 2, 7, 9}));
  EXPECT_EQ(index.indices, (std::vector<int32_t>{2, 1, 2, 0, 1, 3}));
  EXPECT_EQ(IndexRows(rows.data(), 0, 10).rows.numel(), 0);
}

TEST(ExpectLeaf, RefusesTheOutputOfAnOperation) {
  const Tensor table = LeafOf(Zeros({3, 2}, kFloat));
  EXPECT_NO_THROW(ExpectLeaf(table, "Embed"));
  EXPECT_EQ(Mistake([&] { ExpectLeaf(Mul(table, 2), "Embed"); }),
            "Embed: a word table that wants a gradient must be a leaf");
}

}  // namespace
}  // namespace tandem::tensor
