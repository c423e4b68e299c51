#include "search/encoding/precision_times.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/machine/process.h"
#include "tensor/packed_tokens.h"

namespace tandem::search {
namespace {

using model::TextKind;

class PrecisionTimesTest : public testing::Test {
 protected:
  void SetUp() override {
    tensor::SetUpProcess(2);
    WriteTinyModel(folder_.path() / "model");
    model_ = model::DualEncoder::Load(folder_.path() / "model", {});
    for (int i = 0; i < 50; ++i) texts_.push_back(TinyWords()[i % 7] + " alpha beta");
  }
  std::optional<std::vector<PrecisionTime>> Estimate(size_t count, double least_seconds) {
    return EstimateTimes({.model = *model_,
                          .kind = TextKind::kDocument,
                          .texts = texts_.size(),
                          .text = text_,
                          .options = options_,
                          .count = count},
                         least_seconds);
  }
  tensor::Tensor Encode() {
    tensor::Tensor all;
    EncodeTexts(*model_, TextKind::kDocument, texts_.size(), text_, options_,
                [&](size_t, const tensor::Tensor& rows) { all = rows; });
    return all;
  }

  TemporaryFolder folder_;
  std::unique_ptr<model::DualEncoder> model_;
  std::vector<std::string> texts_;
  TextSource text_ = [this](size_t i) { return std::string_view(texts_[i]); };
  EncodeOptions options_{.threads = 2};
};

TEST_F(PrecisionTimesTest, OfEachPrecisionThatTheProcessorHas) {
  const auto times = Estimate(texts_.size(), 0);
  ASSERT_TRUE(times);
  const bool bf16 = tensor::ResolvePrecision("auto") == tensor::Precision::kBf16;
  ASSERT_EQ(times->size(), bf16 ? 3U : 2U);
  EXPECT_EQ(times->front().precision, tensor::Precision::kFp32);
  EXPECT_EQ(times->back().precision, tensor::Precision::kInt8);
  for (const PrecisionTime& time : *times) EXPECT_GT(time.seconds, 0);
}

TEST_F(PrecisionTimesTest, MoreTextsTakeLonger) {
  const double few = Estimate(1000, 0)->front().seconds;
  const double many = Estimate(1'000'000, 0)->front().seconds;
  EXPECT_GT(many, few);  // a thousand times, but for what a small sample costs besides, and noise
}

TEST_F(PrecisionTimesTest, NothingIsMeasuredOfLittleWork) {
  EXPECT_FALSE(Estimate(texts_.size(), 20));
  EXPECT_FALSE(Estimate(0, 0));
}

TEST_F(PrecisionTimesTest, TheModelEncodesAfterwardsAsBefore) {
  const tensor::Tensor before = Encode();
  ASSERT_TRUE(Estimate(texts_.size(), 0));
  // Prepared for fp32 already, as a stream's encoder needs it.
  const std::vector<int32_t> ids = {1, 2};
  const std::vector<std::span<const int32_t>> spans = {ids};
  model_->Encode(tensor::Pack(spans), TextKind::kDocument, {});
  EXPECT_TRUE(AreEqual(before, Encode()));
}

TEST_F(PrecisionTimesTest, TextsWithPromptsOfTheirOwn) {
  options_.prompt = [](size_t i) { return std::string_view(i == 0 ? "gamma " : ""); };
  EXPECT_TRUE(Estimate(texts_.size(), 0));
}

}  // namespace
}  // namespace tandem::search
