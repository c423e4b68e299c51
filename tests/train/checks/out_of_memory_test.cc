#include "train/checks/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "tensor/core/device.h"

namespace tandem::train {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr tensor::Device kCuda = {.kind = tensor::Device::Kind::kCuda, .index = 0};

// A device of 16 GiB of which the model has 2, and on which a batch got 14.
std::string TextOf(const BatchSize& batch, uint64_t resident = 2 * kGiB) {
  return OutOfMemoryText(kCuda, 2 * kGiB, batch, {.total = 16 * kGiB, .used = resident},
                         {.total = 16 * kGiB, .used = resident, .most_used = 16 * kGiB});
}

// 10,000 tokens needed 16 GiB and 2 more, of which 2 are the model's: 1.6 MiB each. 90 % of the
// device less 2 GiB has room for 7,750 of these, but nothing above half of 10,000 is advised.
TEST(OutOfMemory, SaysWhatWasNeededAndWhatWouldFit) {
  const std::string text = TextOf({.queries = 64, .tokens = 10000});
  EXPECT_THAT(text, HasSubstr("cuda:0 is out of memory: a batch of 64 queries with 10000 tokens "
                              "needs 18.0 GiB or more, of which model and optimizer have 2.0 GiB, "
                              "and the device has 16.0 GiB"));
  EXPECT_THAT(text, HasSubstr("give train.chunk_tokens = 4992, or train.batch = 32"));
}

// With 12 GiB of model, 6 GiB are 10,000 tokens, and 2.4 GiB of 14.4 remain: 4,000 tokens.
TEST(OutOfMemory, AdvisesWhatTheDeviceHasLeft) {
  EXPECT_THAT(TextOf({.queries = 64, .tokens = 10000}, 12 * kGiB),
              HasSubstr("give train.chunk_tokens = 3968, or train.batch = 25"));
}

TEST(OutOfMemory, ChunksAreMadeSmallerNotBatches) {
  const std::string text = TextOf({.queries = 64, .tokens = 100000, .chunk_tokens = 4096});
  EXPECT_THAT(text, HasSubstr("with 100000 tokens in chunks of 4096 needs"));
  EXPECT_THAT(text, HasSubstr("give train.chunk_tokens = 2048"));
  EXPECT_THAT(text, Not(HasSubstr("train.batch")));
}

TEST(OutOfMemory, AModelThatLeavesNothingIsToBeTrainedOtherwise) {
  const std::string text = TextOf({.queries = 64, .tokens = 10000}, 15 * kGiB);
  EXPECT_THAT(text, HasSubstr("leave no room for a batch; use model.train = \"lora\""));
  EXPECT_THAT(text, Not(HasSubstr("chunk_tokens = ")));
}

TEST(OutOfMemory, OfADeviceThatSaysNothingHalfIsAdvised) {
  const BatchSize batch{.queries = 7, .tokens = 1000};
  EXPECT_EQ(OutOfMemoryText(tensor::kCpuDevice, 0, batch, {}, {}),
            "cpu is out of memory: a batch of 7 queries with 1000 tokens does not fit; "
            "give train.chunk_tokens = 448, or train.batch = 3");
  EXPECT_THAT(OutOfMemoryText(tensor::kCpuDevice, kGiB / 2, batch, {}, {}),
              HasSubstr("does not fit (512.0 MiB more were not to be had); give"));
  EXPECT_THAT(OutOfMemoryText(tensor::kCpuDevice, 0, {.queries = 1, .tokens = 100}, {}, {}),
              HasSubstr("or more memory for this process (ulimit -v, ulimit -d)"));
}

TEST(OutOfMemory, AFullMemoryBecomesAnErrorThatAdvises) {
  const BatchSize batch{.queries = 8, .tokens = 512};
  try {
    WithMemoryAdvice(tensor::kCpuDevice, batch, [] { throw MemoryError(2 * kGiB); });
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("(2.0 GiB more were not to be had); give train.chunk_tokens"));
  }
  EXPECT_THROW(
      WithMemoryAdvice(tensor::kCpuDevice, batch, [] { throw DataError("f", 0, "", "m"); }),
      DataError);
  EXPECT_THROW(WithMemoryAdvice(tensor::kCpuDevice, batch,
                                [] { throw MemoryError(2 * kGiB, /*of_device=*/true); }),
               MemoryError);
  int steps = 0;
  WithMemoryAdvice(tensor::kCpuDevice, batch, [&] { ++steps; });
  EXPECT_EQ(steps, 1);
}

}  // namespace
}  // namespace tandem::train
