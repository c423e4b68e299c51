#include "tensor/run_apart.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tensor/ops.h"
#include "tensor/precision.h"
#include "tensor/profile.h"

namespace tandem::tensor {
namespace {

constexpr int kThreads = 3;

class RunApartTest : public testing::Test {
 protected:
  void SetUp() override { SetThreads(kThreads); }
  void TearDown() override { SetThreads(0); }
};

void Spend(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST_F(RunApartTest, EveryTaskIsDoneOnceByOneOfSeveralThreads) {
  std::vector<std::atomic<int>> times(50);
  std::atomic<int> at_once = 0, most_at_once = 0;
  RunApart(times.size(), [&](size_t i) {
    const int now = ++at_once;
    for (int most = most_at_once; now > most && !most_at_once.compare_exchange_weak(most, now);) {
    }
    ++times[i];
    Spend(2);
    --at_once;
  });
  for (const std::atomic<int>& count : times) EXPECT_EQ(count, 1);
  for (const char* name : {"OMP_THREAD_LIMIT", "OMP_DYNAMIC"}) {
    if (std::getenv(name)) GTEST_SKIP() << name << " may allow fewer threads";
  }
  EXPECT_EQ(most_at_once, kThreads);
}

TEST_F(RunApartTest, TasksSeeTheCallersGradientModeAndForms) {
  const auto tasks_that_see = [](bool gradients, bool reference) {
    std::atomic<int> count = 0;
    RunApart(20, [&](size_t) {
      Spend(1);
      if (at::GradMode::is_enabled() == gradients && ReferenceForms::Active() == reference) ++count;
    });
    return count.load();
  };
  const bool usual = ReferenceForms::Active();  // TANDEM_FORMS may say so
  {
    const at::AutoGradMode mode(false);
    EXPECT_EQ(tasks_that_see(false, usual), 20);
  }
  {
    const ReferenceForms forms;
    EXPECT_EQ(tasks_that_see(true, true), 20);
  }
  // Nor do the threads keep them.
  EXPECT_EQ(tasks_that_see(true, usual), 20);
}

TEST_F(RunApartTest, WhatATaskThrowsArrivesAndEndsTheRest) {
  std::atomic<int> begun = 0;
  try {
    RunApart(1000, [&](size_t i) {
      ++begun;
      if (i == 4) throw std::runtime_error("the fifth");
      Spend(1);
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the fifth");
  }
  EXPECT_LT(begun, 1000);
  begun = 0;
  RunApart(10, [&](size_t) { ++begun; });
  EXPECT_EQ(begun, 10);
}

TEST_F(RunApartTest, AProfileSharesOutTheTimeOfAllThreads) {
  Profile profile;
  const auto start = std::chrono::steady_clock::now();
  {
    const ActiveProfile active(&profile);
    const ProfileScope outer("outer");
    RunApart(9, [](size_t) {
      const ProfileScope scope("task", {.flops = 2, .bytes = 1});
      Profile::Active()->AddProduct({3, 5});
      Spend(20);
    });
  }
  const double whole =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_EQ(profile.operations().size(), 2U);
  const Profile::Operation &task = profile.operations()[0], &outer = profile.operations()[1];
  EXPECT_EQ(task.name, "task");
  EXPECT_EQ(task.calls, 9);
  EXPECT_EQ(task.work.flops, 18);
  EXPECT_EQ(task.work.bytes, 9);
  EXPECT_EQ(profile.products().size(), 1U);
  EXPECT_GE(task.seconds, 9 * 0.020 / kThreads);
  EXPECT_LE(task.seconds, whole);
  EXPECT_GE(outer.seconds, 0);
  EXPECT_LE(outer.seconds, 0.4 * whole);  // three rounds of three: nobody waits long
}

}  // namespace
}  // namespace tandem::tensor
