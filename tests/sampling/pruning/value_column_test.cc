// Columns of numbers come back bit by bit, whatever their width.
#include "sampling/pruning/value_column.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace tandem::sampling {
namespace {

TEST(ValueColumn, GivesBackEveryBitAtEveryWidth) {
  for (const size_t distinct : {1U, 2U, 256U, 257U, 65536U, 65537U, 70000U}) {
    for (const bool reserved : {false, true}) {
      ValueColumn column;
      if (reserved) column.Reserve(2 * distinct);
      std::vector<double> values;
      for (size_t i = 0; i < 2 * distinct; ++i) {
        values.push_back(0.1 * static_cast<double>((i * 7919) % distinct));
        column.Add(values.back());
      }
      ASSERT_EQ(column.size(), values.size());
      for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(column[i], values[i]) << i;
    }
  }
}

TEST(ValueColumn, TellsZerosApartAndKeepsNan) {
  ValueColumn column;
  for (const double value : {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(), 0.0}) {
    column.Add(value);
  }
  EXPECT_FALSE(std::signbit(column[0]));
  EXPECT_TRUE(std::signbit(column[1]));
  EXPECT_TRUE(std::isnan(column[2]));
  EXPECT_FALSE(std::signbit(column[3]));
}

}  // namespace
}  // namespace tandem::sampling
