#include "config/quantity.h"

#include <gtest/gtest.h>

namespace tandem::config {
namespace {

TEST(Quantity, ReadsSharesAndCounts) {
  EXPECT_EQ(ParseQuantity(std::string("5%"), "steps").quantity, Quantity::Percent(5));
  EXPECT_EQ(ParseQuantity(std::string("2.5 %"), "steps").quantity, Quantity::Percent(2.5));
  EXPECT_EQ(ParseQuantity(std::string("500 steps"), "steps").quantity, Quantity::Count(500));
  EXPECT_EQ(ParseQuantity(std::string("1 step"), "steps").quantity, Quantity::Count(1));
  EXPECT_EQ(ParseQuantity(std::string("500"), "steps").quantity, Quantity::Count(500));
  EXPECT_EQ(ParseQuantity(int64_t{7}, "steps").quantity, Quantity::Count(7));
}

TEST(Quantity, RefusesWhatItDoesNotUnderstand) {
  for (const std::string text : {"", "%", "-5%", "101%", "5 epochs", "1.5 steps", "steps", "nan%",
                                 "5%5", "1e300 steps", "inf steps"}) {
    EXPECT_EQ(ParseQuantity(text, "steps").problem,
              "must be a share like \"5%\" or a count like \"500 steps\", found \"" + text + "\"");
  }
  EXPECT_NE(ParseQuantity(int64_t{-1}, "steps").problem, "");
  EXPECT_NE(ParseQuantity(0.5, "steps").problem, "");
}

TEST(Quantity, OfAWhole) {
  EXPECT_EQ(Quantity::Percent(5).Of(1000), 50);
  EXPECT_EQ(Quantity::Percent(10).Of(15), 2);  // 1.5 to the nearest, away from zero
  EXPECT_EQ(Quantity::Count(500).Of(15), 500);
}

TEST(Quantity, WritesWhatItReads) {
  EXPECT_EQ(FormatQuantity(Quantity::Percent(2.5), "steps"), "2.5%");
  EXPECT_EQ(FormatQuantity(Quantity::Count(500), "queries"), "500 queries");
}

}  // namespace
}  // namespace tandem::config
