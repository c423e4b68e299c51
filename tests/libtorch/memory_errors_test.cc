#include "libtorch/memory_errors.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

#include "base/error.h"
#include "libtorch/device_functions.h"

namespace tandem::libtorch {
namespace {

TEST(MemoryErrors, ReadsWhatWasAskedFor) {
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  EXPECT_EQ(
      AskedFor("CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 16.00 GiB total capacity)"),
      2 * kGiB);
  EXPECT_EQ(AskedFor("Tried to allocate 512.50 MiB."), uint64_t{512} * 1048576 + 524288);
  EXPECT_EQ(AskedFor("Tried to allocate 20.00 KiB"), 20480U);
  EXPECT_EQ(AskedFor("Tried to allocate 7 bytes"), 7U);
  EXPECT_EQ(AskedFor("DefaultCPUAllocator: can't allocate memory: you tried to allocate 589824 "
                     "bytes. Error code 12"),
            589824U);
  EXPECT_EQ(AskedFor("no memory"), 0U);
  EXPECT_EQ(AskedFor("Tried to allocate "), 0U);
}

TEST(MemoryErrors, OfADeviceBecomeMemoryError) {
  const auto fail = [] {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate 3.00 MiB");
  };
  try {
    WithMemoryErrors(fail);
    FAIL();
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.bytes(), 3U << 20);
    EXPECT_TRUE(error.of_device());
  }
}

TEST(MemoryErrors, OfTheHostBecomeMemoryError) {
  constexpr int64_t kBytes = int64_t{1} << 60;
  try {
    Functions().Empty({kBytes}, tensor::kByte, tensor::kCpuDevice);
    FAIL();
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.bytes(), static_cast<uint64_t>(kBytes));
    EXPECT_FALSE(error.of_device());
  }
}

TEST(MemoryErrors, OtherErrorsStay) {
  EXPECT_THROW(WithMemoryErrors([] { TORCH_CHECK(false, "another problem"); }), c10::Error);
  EXPECT_THROW(WithMemoryErrors([] { throw std::logic_error("a bug"); }), std::logic_error);
  EXPECT_EQ(WithMemoryErrors([] { return 3; }), 3);
}

}  // namespace
}  // namespace tandem::libtorch
