#include "tensor/core/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tensor/core/values.h"

namespace tandem::tensor {
namespace {

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

Ranges RangesOf(int64_t begin, int64_t end, int64_t grain) {
  std::mutex mutex;
  Ranges ranges;
  ParallelFor(begin, end, grain, [&](int64_t first, int64_t past) {
    const std::lock_guard lock(mutex);
    ranges.emplace_back(first, past);
  });
  std::ranges::sort(ranges);
  return ranges;
}

class ParallelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("OMP_THREAD_LIMIT") || std::getenv("OMP_DYNAMIC")) {
      GTEST_SKIP() << "OMP_THREAD_LIMIT or OMP_DYNAMIC may allow fewer threads";
    }
    SetThreadCount(3);
  }
  void TearDown() override { SetThreadCount(before_); }

 private:
  int before_ = ThreadCount();
};

// The ranges of libtorch's at::parallel_for.
TEST_F(ParallelTest, RangesAreEvenAndAtLeastTheGrain) {
  EXPECT_EQ(RangesOf(0, 10, 1), (Ranges{{0, 4}, {4, 8}, {8, 10}}));
  EXPECT_EQ(RangesOf(5, 12, 4), (Ranges{{5, 9}, {9, 12}}));
  EXPECT_EQ(RangesOf(0, 4, 4), (Ranges{{0, 4}}));
  EXPECT_EQ(RangesOf(0, 2, 1), (Ranges{{0, 1}, {1, 2}}));
  EXPECT_EQ(RangesOf(0, 4, 0), (Ranges{{0, 2}, {2, 4}}));
  EXPECT_EQ(RangesOf(3, 3, 1), Ranges{});
  EXPECT_EQ(RangesOf(4, 3, 1), Ranges{});
}

TEST_F(ParallelTest, RegionsInsideARegionHaveOneThread) {
  EXPECT_EQ(Threads(), 3);
  std::atomic<int> inside = 0, ranges = 0;
  ParallelFor(0, 3, 1, [&](int64_t, int64_t) {
    inside += Threads();
    ParallelFor(0, 100, 1, [&](int64_t, int64_t) { ++ranges; });
  });
  EXPECT_EQ(inside, 3);
  EXPECT_EQ(ranges, 3);
}

TEST_F(ParallelTest, WhatARangeThrowsArrives) {
  for (const int64_t failing : {0, 2}) {
    EXPECT_EQ(Mistake([&] {
                ParallelFor(0, 3, 1, [&](int64_t first, int64_t) {
                  if (first == failing) throw std::logic_error("mistake");
                });
              }),
              "mistake");
  }
  EXPECT_EQ(RangesOf(0, 3, 1).size(), 3U);
}

TEST_F(ParallelTest, TheCountIsTheProcesss) {
  int seen = 0;
  std::thread([&seen] { seen = ThreadCount(); }).join();
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(Mistake([] { SetThreadCount(0); }), "SetThreadCount: expected 1 or more, found 0");
  EXPECT_EQ(ThreadCount(), 3);
}

// Long tensors are computed on several threads, element by element as short ones are.
TEST_F(ParallelTest, ElementsOfLongTensorsAreThoseOfShortOnes) {
  const Tensor whole = Arange(100'000, kFloat), sum = whole.clone();
  sum.add_(whole);
  sum.mul_(0.5);
  const std::vector<float> values = ValuesOf<float>(sum), expected = ValuesOf<float>(whole);
  EXPECT_EQ(values, expected);
  EXPECT_EQ(DoublesOf(sum.to(kBFloat16).to(kFloat))[257], 256);
}

}  // namespace
}  // namespace tandem::tensor
