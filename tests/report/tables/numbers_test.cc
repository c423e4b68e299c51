#include "report/tables/numbers.h"

#include <gtest/gtest.h>

#include <limits>

namespace tandem::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Numbers, MeasuresHaveFourDecimals) {
  EXPECT_EQ(Fixed(0.81684), "0.8168");
  EXPECT_EQ(Fixed(-0.00001), "0.0000");
  EXPECT_EQ(Fixed(-0.00001, 5), "-0.00001");
  EXPECT_EQ(Fixed(-0.4, 0), "0");
  EXPECT_EQ(Fixed(1e308), "1.0000e+308");
  EXPECT_EQ(Fixed(-1e15, 2), "-1.00e+15");
  EXPECT_EQ(Fixed(123456789012345.0, 1), "123456789012345.0");
  EXPECT_EQ(Fixed(std::nullopt), "-");
  EXPECT_EQ(Fixed(kNan), "nan");
  EXPECT_EQ(Fixed(-kInfinity), "-inf");
}

TEST(Numbers, DifferencesHaveASign) {
  EXPECT_EQ(Signed(0.021), "+0.0210");
  EXPECT_EQ(Signed(-0.003, 3), "-0.003");
  EXPECT_EQ(Signed(-0.00001), "+0.0000");
  EXPECT_EQ(Signed(std::nullopt), "-");
  EXPECT_EQ(Signed(kNan), "nan");
}

TEST(Numbers, ProgramsGetAllDigits) {
  EXPECT_EQ(Exact(0.1), "0.1");
  EXPECT_EQ(Exact(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(Exact(300), "300");
  EXPECT_EQ(Exact(std::nullopt), "-");
  EXPECT_EQ(JsonNumber(0.1).Dump(), "0.1");
  EXPECT_TRUE(JsonNumber(std::nullopt).is_null());
  EXPECT_TRUE(JsonNumber(kNan).is_null());
  EXPECT_TRUE(JsonNumber(kInfinity).is_null());
}

TEST(Numbers, Intervals) {
  EXPECT_EQ(WithInterval(Interval{0.8168, 0.79012, 0.84235}), "0.8168 [0.7901, 0.8424]");
  EXPECT_EQ(WithInterval(Interval{0.8168, 0.79012, 0.84235}, 2), "0.82 [0.79, 0.84]");
  EXPECT_EQ(WithInterval(std::nullopt), "-");
  EXPECT_EQ(PlusMinus(0.021, 0.008, 3), "0.021 ± 0.008");
}

TEST(Numbers, SmallProbabilitiesAndErrors) {
  EXPECT_EQ(PValue(0.0004), "0.0004");
  EXPECT_EQ(PValue(0.00009), "< 0.0001");
  EXPECT_EQ(PValue(0.0001), "0.0001");
  EXPECT_EQ(PValue(1), "1.0000");
  EXPECT_EQ(PValue(std::nullopt), "-");
  EXPECT_EQ(Scientific(0.0000234), "2.34e-05");
  EXPECT_EQ(Scientific(std::nullopt), "-");
}

TEST(Numbers, SizesAndShares) {
  EXPECT_EQ(SiNumber(0), "0");
  EXPECT_EQ(SiNumber(950), "950");
  EXPECT_EQ(SiNumber(999.6), "1.00 k");
  EXPECT_EQ(SiNumber(8841823), "8.84 M");
  EXPECT_EQ(SiNumber(123456), "123 k");
  EXPECT_EQ(SiNumber(-12345), "-12.3 k");
  EXPECT_EQ(SiNumber(2.5), "2.50");
  EXPECT_EQ(Percent(0.9123), "91.2 %");
  EXPECT_EQ(Percent(std::nullopt), "-");
}

TEST(Numbers, Seconds) {
  EXPECT_EQ(Seconds(12.34), "12.3 s");
  EXPECT_EQ(Seconds(0.2404), "240 ms");
  EXPECT_EQ(Seconds(0.99960), "1.00 s");
  EXPECT_EQ(Seconds(0.0000081), "8.10 us");
  EXPECT_EQ(Seconds(0), "0.00 us");
}

}  // namespace
}  // namespace tandem::report
