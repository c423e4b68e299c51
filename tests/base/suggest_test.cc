#include "base/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace tandem {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"temperature", "scale", "learning_rate"};

TEST(NearestName, FindsSlipsOfTheFinger) {
  EXPECT_EQ(NearestName("temperatur", kNames), "temperature");
  EXPECT_EQ(NearestName("sclae", kNames), "scale");
  EXPECT_EQ(NearestName("learning-rate", kNames), "learning_rate");
  EXPECT_EQ(NearestName("TEMPERATURE", kNames), "temperature");
  EXPECT_EQ(NearestName("Learning-Rate", kNames), "learning_rate");
}

TEST(NearestName, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(NearestName("optimizer", kNames), "");
  EXPECT_EQ(DidYouMean("zzz", kNames), "");
  EXPECT_EQ(DidYouMean("scal", kNames), "; did you mean scale?");
}

}  // namespace
}  // namespace tandem
