#include "train/profile/step_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tandem::train {
namespace {

// Two steps, each of 30 ms of products, 10 ms of memory traffic and 2 ms that are neither.
StepProfile Example() {
  StepProfile profile;
  for (int step = 0; step < 2; ++step) {
    profile.operations.Add({"copy", 1, 0.010, {.bytes = 1e8}});
    profile.operations.Add({"product", 1, 0.030, {.flops = 4e9, .bytes = 1e6}});
    profile.operations.Add({"everything else", 1, 0.002, {}});
  }
  profile.steps = 2;
  profile.tokens = 600;
  return profile;
}

// 4e9 FLOPs take 20 ms of these, 1e8 bytes 5 ms, 1e6 bytes next to nothing.
const ProfileSetting kSetting{.product_rate = 2e11, .memory_rate = 2e10, .flops_per_token = 1e7};

TEST(StepProfile, ComparesEachOperationWithItsLimit) {
  const std::vector<ProfileRow> rows = ProfileRows(Example(), kSetting);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "product");
  EXPECT_EQ(rows[1].name, "copy");
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_NEAR(rows[0].seconds, 0.030, 1e-12);
  EXPECT_NEAR(rows[0].share, 30.0 / 42, 1e-12);
  EXPECT_NEAR(rows[0].limit_seconds, 0.020, 1e-12);
  EXPECT_FALSE(rows[0].memory_bound);
  EXPECT_NEAR(rows[0].flops_per_second * rows[0].seconds, 4e9, 1);
  EXPECT_NEAR(rows[1].limit_seconds, 0.005, 1e-12);
  EXPECT_TRUE(rows[1].memory_bound);
  EXPECT_EQ(rows[1].flops_per_second, 0);
  EXPECT_NEAR(rows[1].seconds, 0.010, 1e-12);
  EXPECT_EQ(rows[2].name, "everything else");
  EXPECT_EQ(rows[2].limit_seconds, 0);
  EXPECT_NEAR(rows[0].share + rows[1].share + rows[2].share, 1, 1e-12);
}

TEST(StepProfile, PrintsTextTsvAndJson) {
  const StepProfile profile = Example();
  const std::string text = FormatProfile(profile, kSetting, "text", {.columns = 110});
  EXPECT_THAT(text, testing::HasSubstr("profile of 2 steps"));
  EXPECT_THAT(text, testing::HasSubstr("300 tokens and 42.0 ms a step, 7143 tokens/s"));
  EXPECT_THAT(text, testing::HasSubstr("200 GFLOP/s in products"));
  EXPECT_THAT(text, testing::ContainsRegex("product +1\\.0 .* products "));
  EXPECT_THAT(text, testing::ContainsRegex("copy +1\\.0 .* memory "));
  EXPECT_THAT(FormatProfile(profile, kSetting, "tsv", {.columns = 110}),
              testing::StartsWith("operation\tcalls\tseconds\tshare\tflops_per_second\t"));
  const auto json =
      nlohmann::json::parse(FormatProfile(profile, kSetting, "json", {.columns = 110}));
  EXPECT_EQ(json["steps"], 2);
  EXPECT_EQ(json["operations"][1]["operation"], "copy");
  EXPECT_EQ(json["operations"][1]["bound_by"], "memory");
  EXPECT_NEAR(json["operations"][1]["seconds"].get<double>(), 0.010, 1e-12);
}

TEST(StepProfile, TheTableOfANarrowTerminalIsTurned) {
  const std::string text = FormatProfile(Example(), kSetting, "text", {.columns = 80});
  EXPECT_THAT(text, testing::HasSubstr("\noperation  product   copy    everything else  step\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nms         30.00     10.00   2.00             42.00\n"));
}

TEST(StepProfile, ARunOfOneStepHasNothingToShow) {
  EXPECT_THAT(FormatProfile({}, kSetting, "text", {.columns = 110}),
              testing::HasSubstr("there is no step to show"));
}

}  // namespace
}  // namespace tandem::train
