#include "base/byte_size.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(ParseByteSize, ReadsNumbersWithUnits) {
  EXPECT_EQ(ParseByteSize("4096"), 4096U);
  EXPECT_EQ(ParseByteSize("17B"), 17U);
  EXPECT_EQ(ParseByteSize("2GiB"), uint64_t{2} << 30);
  EXPECT_EQ(ParseByteSize("1.5 MiB"), uint64_t{3} << 19);
  EXPECT_EQ(ParseByteSize("500MB"), 500000000U);
  EXPECT_EQ(ParseByteSize("0"), 0U);
}

TEST(ParseByteSize, RefusesAllOtherText) {
  for (const char* text : {"", "GiB", "-1GiB", "2gib", "2 GiB ", "2  GiB", "nan", "inf", "1e400",
                           "9000000TiB", "0x10", "2GiBB"}) {
    EXPECT_EQ(ParseByteSize(text), std::nullopt) << text;
  }
}

TEST(FormatByteSize, TakesTheUnitThatFits) {
  EXPECT_EQ(FormatByteSize(17), "17 B");
  EXPECT_EQ(FormatByteSize(3 << 9), "1.5 KiB");
  EXPECT_EQ(FormatByteSize(3 << 19), "1.5 MiB");
  EXPECT_EQ(FormatByteSize(uint64_t{2} << 30), "2.0 GiB");
}

}  // namespace
}  // namespace tandem
