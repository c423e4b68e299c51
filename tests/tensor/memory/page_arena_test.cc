#include "tensor/memory/page_arena.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "support/resident_memory.h"
#include "tensor/core/allocator.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(PageArena, BlocksLieAsLowAsTheyFit) {
  PageArena arena(100 * kMiB);
  void* a = arena.Allocate(10 * kMiB);
  void* b = arena.Allocate(20 * kMiB - 1);  // whole pages
  void* c = arena.Allocate(5 * kMiB);
  arena.Free(a);
  EXPECT_EQ(arena.Allocate(11 * kMiB), static_cast<std::byte*>(c) + 5 * kMiB);
  EXPECT_EQ(arena.Allocate(4 * kMiB), a);
  EXPECT_EQ(arena.Allocate(6 * kMiB), static_cast<std::byte*>(a) + 4 * kMiB);
  arena.Free(c);
  arena.Free(b);  // one gap with c's
  EXPECT_EQ(arena.Allocate(25 * kMiB), b);
  EXPECT_EQ(arena.usage().reached, 46 * kMiB);
}

TEST(PageArena, FreedNeighboursBecomeOneGapInAnyOrder) {
  for (const std::vector<int>& order :
       {std::vector<int>{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}) {
    PageArena arena(3 * kMiB);
    std::vector<void*> blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(arena.Allocate(kMiB));
    for (const int i : order) arena.Free(blocks[static_cast<size_t>(i)]);
    EXPECT_EQ(arena.Allocate(3 * kMiB), blocks[0]);
  }
}

TEST(PageArena, NoRoomIsNull) {
  PageArena arena(2 * kMiB);
  void* whole = arena.Allocate(2 * kMiB);
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(arena.Allocate(1), nullptr);
  arena.Free(whole);
  EXPECT_EQ(arena.Allocate(2 * kMiB + 1), nullptr);
  EXPECT_EQ(arena.Allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.Allocate(1), whole);
}

TEST(PageArena, TrimGivesPagesBackAndKeepsBlocks) {
  PageArena arena(1000 * kMiB);
  void* first = arena.Allocate(100 * kMiB);
  auto* kept = static_cast<unsigned char*>(arena.Allocate(kMiB));
  void* last = arena.Allocate(100 * kMiB);
  std::memset(first, 1, 100 * kMiB);
  std::memset(kept, 2, kMiB);
  std::memset(last, 3, 100 * kMiB);
  arena.Free(first);
  arena.Free(last);
  const size_t before = ResidentBytes();
  arena.Trim();
  EXPECT_LT(ResidentBytes(), before - 190 * kMiB);
  EXPECT_EQ(std::count(kept, kept + kMiB, 2), static_cast<ptrdiff_t>(kMiB));
  auto* again = static_cast<unsigned char*>(arena.Allocate(100 * kMiB));
  std::memset(again, 4, 100 * kMiB);
  EXPECT_EQ(again, first);
}

// On arm64 a page may have 64 KiB. Where blocks shared one, Trim would drop a part of the latter.
TEST(PageArena, BlocksShareNoPage) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  PageArena arena(4 * kMiB);
  std::vector<unsigned char*> blocks;
  for (int i = 0; i < 10; ++i) {
    blocks.push_back(static_cast<unsigned char*>(arena.Allocate(5000)));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back()) % page, 0U);
    std::memset(blocks.back(), 1 + i, 5000);
  }
  for (size_t i = 0; i < blocks.size(); i += 2) arena.Free(blocks[i]);
  arena.Trim();
  for (size_t i = 1; i < blocks.size(); i += 2) {
    EXPECT_EQ(std::count(blocks[i], blocks[i] + 5000, 1 + i), 5000) << i;
  }
}

TEST(PageArena, StepsThatRepeatReachNoHigher) {
  PageArena arena(1000 * kMiB);
  std::vector<std::pair<void*, size_t>> saved;
  for (int step = 0; step < 5; ++step) {
    for (size_t layer = 0; layer < 6; ++layer) {
      for (const size_t size : {3 * kMiB, kMiB, 4 * kMiB})
        saved.emplace_back(arena.Allocate(size), size);
    }
    while (!saved.empty()) {
      void* gradient = arena.Allocate(kMiB);
      arena.Free(saved.back().first);
      saved.pop_back();
      arena.Free(gradient);
    }
  }
  EXPECT_EQ(arena.usage().most_used, 49 * kMiB);
  EXPECT_EQ(arena.usage().reached, 49 * kMiB);
  EXPECT_EQ(arena.usage().used, 0U);
}

TEST(PageArena, BlocksOfThreadsNeverOverlap) {
  PageArena arena(64 * kMiB);
  std::vector<std::thread> threads;
  std::vector<size_t> torn(4, 0);
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&arena, &torn, t] {
      std::minstd_rand random(t + 1);
      std::vector<std::pair<unsigned char*, size_t>> blocks;
      for (int i = 0; i < 200; ++i) {
        const size_t bytes = 1 + random() % (2 * kMiB);
        auto* block = static_cast<unsigned char*>(arena.Allocate(bytes));
        if (block != nullptr) {
          std::memset(block, static_cast<int>(t), bytes);
          blocks.emplace_back(block, bytes);
        }
        if (blocks.size() < 4) continue;
        const auto [oldest, size] = blocks.front();
        for (size_t b = 0; b < size; b += 1000) torn[t] += oldest[b] != t;
        arena.Free(oldest);
        blocks.erase(blocks.begin());
      }
      for (const auto& [block, size] : blocks) arena.Free(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, (std::vector<size_t>{0, 0, 0, 0}));
  EXPECT_EQ(arena.usage().used, 0U);
  EXPECT_NE(arena.Allocate(64 * kMiB), nullptr);  // all gaps have met
}

#ifndef __SANITIZE_ADDRESS__
TEST(UseTensorArena, ALargeTensorTakesThePlaceOfTheLast) {
  UseTensorArena();
  const void* first = nullptr;
  {
    const Tensor tensor = Empty({1000, 3000}, kFloat);
    first = tensor.data_ptr();
  }
  const Tensor small = Empty({10}, kFloat);
  EXPECT_NE(small.data_ptr(), first);
  const Tensor next = Empty({900, 3000}, kFloat);
  EXPECT_EQ(next.data_ptr(), first);
}

TEST(UseTensorArena, ServesMemoryOfEverySize) {
  UseTensorArena();
  for (const size_t bytes : {size_t{100}, 3 * kMiB}) {
    void* memory = CurrentAllocator().Allocate(bytes);
    ASSERT_NE(memory, nullptr);
    std::memset(memory, 1, bytes);
    CurrentAllocator().Free(memory, bytes);
  }
}

TEST(UseTensorArena, SaysHowManyBytesThereAreNot) {
  UseTensorArena();
  EXPECT_THROW(Empty({int64_t{1} << 55}, kFloat), MemoryError);
}
#endif

}  // namespace
}  // namespace tandem::tensor
