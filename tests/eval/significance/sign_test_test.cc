#include "eval/significance/sign_test.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace tandem::eval {
namespace {

// The share of all 2^(gained + lost) outcomes that are at least as uneven, counted one by one.
double Counted(size_t gained, size_t lost) {
  const size_t pairs = gained + lost;
  const size_t apart = gained > lost ? gained - lost : lost - gained;
  size_t as_uneven = 0;
  for (uint32_t outcome = 0; outcome < uint32_t{1} << pairs; ++outcome) {
    const auto up = static_cast<size_t>(__builtin_popcount(outcome));
    const size_t down = pairs - up;
    as_uneven += (up > down ? up - down : down - up) >= apart;
  }
  return static_cast<double>(as_uneven) / static_cast<double>(uint32_t{1} << pairs);
}

TEST(SignTest, IsTheShareOfOutcomesAsUneven) {
  for (size_t gained = 0; gained <= 9; ++gained) {
    for (size_t lost = 0; lost <= 9; ++lost) {
      EXPECT_NEAR(SignTestP(gained, lost), Counted(gained, lost), 1e-12) << gained << " " << lost;
    }
  }
}

TEST(SignTest, TakesManyPairs) {
  EXPECT_EQ(SignTestP(0, 0), 1);
  EXPECT_EQ(SignTestP(50'000, 50'000), 1);
  EXPECT_NEAR(SignTestP(5'100, 4'900), 0.0465, 1e-3);  // the normal distribution at 2 less a half
  EXPECT_LT(SignTestP(0, 5'000), 1e-300);
}

}  // namespace
}  // namespace tandem::eval
