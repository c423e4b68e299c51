#include "base/process/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace tandem {
namespace {

TEST(ParallelFor, CoversEveryItemOnce) {
  std::vector<std::atomic<int>> seen(1003);
  ParallelFor(seen.size(), 10, 4, [&](size_t begin, size_t end) {
    EXPECT_LE(end - begin, 10U);
    for (size_t i = begin; i < end; ++i) ++seen[i];
  });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, RethrowsTheFirstFailure) {
  EXPECT_THROW(ParallelFor(100, 1, 3,
                           [](size_t begin, size_t) {
                             if (begin == 42) throw std::runtime_error("42");
                           }),
               std::runtime_error);
}

TEST(UsableThreads, IsAtLeastOne) { EXPECT_GE(UsableThreads(), 1); }

}  // namespace
}  // namespace tandem
