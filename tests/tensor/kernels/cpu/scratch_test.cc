#include "tensor/kernels/cpu/scratch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace tandem::tensor::cpu {
namespace {

struct Arrays {
  float* floats;
  uint16_t* halves;
  char* last;
};

Arrays LayOut(Scratch& scratch, size_t count) {
  return {.floats = scratch.Allocate<float>(count),
          .halves = scratch.Allocate<uint16_t>(count),
          .last = scratch.Allocate<char>(count)};
}

size_t BytesOf(size_t count) {
  Scratch measured(nullptr);
  LayOut(measured, count);
  return measured.bytes();
}

// AddressSanitizer sees a block that is too short.
TEST(Scratch, ABlockHoldsAllArraysOfItsLayoutWithoutOverlap) {
  for (const size_t count : {1, 15, 16, 17, 1000, 5, 100000}) {
    const Arrays arrays =
        AllocateScratch<Arrays>([count](Scratch& scratch) { return LayOut(scratch, count); });
    std::memset(arrays.floats, 1, count * sizeof(float));
    std::memset(arrays.halves, 2, count * sizeof(uint16_t));
    std::memset(arrays.last, 3, count);
    for (const void* array :
         {static_cast<const void*>(arrays.floats), static_cast<const void*>(arrays.halves),
          static_cast<const void*>(arrays.last)}) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(array) % 64, 0U) << count;
    }
    for (size_t i = 0; i < count; ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, arrays.floats + i, sizeof bits);
      ASSERT_EQ(bits, 0x01010101U) << count;
      ASSERT_EQ(arrays.halves[i], 0x0202) << count;
    }
    const auto* begin = reinterpret_cast<const char*>(arrays.floats);
    EXPECT_EQ(static_cast<size_t>(arrays.last - begin) + Scratch::WholeLines(count),
              BytesOf(count));
  }
}

TEST(Scratch, ALayoutThatChangesItsSizesIsRefused) {
  int runs = 0;
  EXPECT_THROW(AllocateScratch<Arrays>([&runs](Scratch& scratch) {
                 return scratch.Allocate<float>(++runs == 1 ? 16 : 17);
               }),
               std::logic_error);
  EXPECT_EQ(runs, 2);
}

TEST(Scratch, ThreadsAndUsersHaveBlocksOfTheirOwn) {
  struct First;
  struct Second;
  const float* first = AllocateScratchArray<float, First>(16);
  EXPECT_EQ((AllocateScratchArray<float, First>(8)), first);
  EXPECT_NE((AllocateScratchArray<float, Second>(16)), first);
  const float* other = nullptr;
  std::thread([&other] { other = AllocateScratchArray<float, First>(16); }).join();
  EXPECT_NE(other, first);
}

}  // namespace
}  // namespace tandem::tensor::cpu
