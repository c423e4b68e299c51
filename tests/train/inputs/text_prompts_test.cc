#include "train/inputs/text_prompts.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace tandem::train {
namespace {

TEST(TextPrompts, HoldFromTheirTextOn) {
  TextPrompts prompts("all ");
  EXPECT_TRUE(prompts.AreAll("all "));
  EXPECT_EQ(prompts.Unless("all "), nullptr);
  prompts.From(0, "first ");
  prompts.From(3, "");
  prompts.From(3, "second ");
  prompts.From(5, "third ");
  const std::vector<std::string_view> want = {"first ",  "first ", "first ", "second ",
                                              "second ", "third ", "third "};
  const auto function = prompts.Unless("");
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(prompts.Of(i), want[i]);
    EXPECT_EQ(function(i), want[i]);
  }
  EXPECT_FALSE(prompts.AreAll("first "));
}

}  // namespace
}  // namespace tandem::train
