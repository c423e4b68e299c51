#include "tensor/core/shape.h"

#include <gtest/gtest.h>

#include "tensor/core/values.h"

namespace tandem::tensor {
namespace {

TEST(Shape, CountsElementsAndRows) {
  const Shape shape = {2, 3, 4};
  EXPECT_EQ(shape.dim(), 3);
  EXPECT_EQ(shape.numel(), 24);
  EXPECT_EQ(shape.row_elements(), 12);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 4);
  EXPECT_EQ(shape.Text(), "[2, 3, 4]");
  EXPECT_EQ(shape.WithRows(5), (Shape{5, 3, 4}));
  EXPECT_EQ(shape.WithoutFirst(), (Shape{3, 4}));
  EXPECT_EQ(shape.vec(), (std::vector<int64_t>{2, 3, 4}));
}

TEST(Shape, MayBeOfOneNumberOrOfNone) {
  EXPECT_EQ(Shape().numel(), 1);
  EXPECT_EQ(Shape().Text(), "[]");
  EXPECT_EQ((Shape{0, 3}).numel(), 0);
  EXPECT_EQ((Shape{0, 3}).row_elements(), 3);
  EXPECT_EQ((Shape{3, 0}).numel(), 0);
  EXPECT_NE((Shape{0, 3}), (Shape{0, 4}));
  EXPECT_NE((Shape{3}), (Shape{3, 0}));
}

TEST(Shape, RefusesWhatATensorCannotBe) {
  EXPECT_EQ(Mistake([] {
              Shape{1, 2, 3, 4, 5};
            }),
            "a tensor has at most 4 dimensions, found the sizes [1, 2, 3, 4, 5]");
  EXPECT_EQ(Mistake([] { Shape{2, -1}; }), "sizes of a tensor are 0 or more, found [2, -1]");
  EXPECT_EQ(Mistake([] {
              Shape{int64_t{1} << 40, int64_t{1} << 40};
            }),
            "a tensor of the sizes [1099511627776, 1099511627776] has more elements than can be "
            "counted");
  EXPECT_EQ(Mistake([] { Shape{2, 3}[2]; }), "a tensor [2, 3] has no dimension 2");
  EXPECT_EQ(Mistake([] { Shape{2, 3}[-3]; }), "a tensor [2, 3] has no dimension -3");
  EXPECT_EQ(Mistake([] { Shape{}.WithRows(1); }), "a tensor [] has no dimension 0");
}

}  // namespace
}  // namespace tandem::tensor
