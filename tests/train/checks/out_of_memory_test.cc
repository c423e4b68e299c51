#include "train/checks/out_of_memory.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace tandem::train {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr const char* kProblem =
    "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 16.00 GiB total capacity)";
const c10::Device kCuda(c10::kCUDA, 0);

// A device of 16 GiB of which the model has 2, and on which a batch got 14.
std::string TextOf(const BatchSize& batch, uint64_t resident = 2 * kGiB) {
  return OutOfMemoryText(kCuda, kProblem, batch, {.total = 16 * kGiB, .used = resident},
                         {.total = 16 * kGiB, .used = resident, .most_used = 16 * kGiB});
}

TEST(OutOfMemory, ReadsWhatWasAskedFor) {
  EXPECT_EQ(AskedFor(kProblem), 2 * kGiB);
  EXPECT_EQ(AskedFor("Tried to allocate 512.50 MiB."), uint64_t{512} * 1048576 + 524288);
  EXPECT_EQ(AskedFor("Tried to allocate 20.00 KiB"), 20480u);
  EXPECT_EQ(AskedFor("Tried to allocate 7 bytes"), 7u);
  EXPECT_EQ(AskedFor("no memory"), 0u);
  EXPECT_EQ(AskedFor("Tried to allocate "), 0u);
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
  const std::string text =
      OutOfMemoryText(c10::Device(c10::kCPU), "no memory", {.queries = 7, .tokens = 1000}, {}, {});
  EXPECT_EQ(text,
            "cpu is out of memory: a batch of 7 queries with 1000 tokens does not fit (no memory); "
            "give train.chunk_tokens = 448, or train.batch = 3");
}

TEST(OutOfMemory, LibtorchsErrorBecomesOneThatAdvises) {
  const BatchSize batch{.queries = 8, .tokens = 512};
  try {
    WithMemoryAdvice(c10::Device(c10::kCPU), batch, [] {
      TORCH_CHECK_WITH(OutOfMemoryError, false, "Tried to allocate 2.00 GiB");
    });
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("(Tried to allocate 2.00 GiB); give train.chunk_tokens"));
  }
  EXPECT_THROW(
      WithMemoryAdvice(c10::Device(c10::kCPU), batch, [] { throw DataError("f", 0, "", "m"); }),
      DataError);
  int steps = 0;
  WithMemoryAdvice(c10::Device(c10::kCPU), batch, [&] { ++steps; });
  EXPECT_EQ(steps, 1);
}

}  // namespace
}  // namespace tandem::train
