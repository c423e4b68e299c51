#include "tensor/machine/run_apart.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "tensor/core/gradients/tape.h"
#include "tensor/machine/process.h"
#include "tensor/ops.h"
#include "tensor/profile/profile.h"

namespace tandem::tensor {
namespace {

constexpr int kThreads = 3;

class RunApartTest : public testing::Test {
 protected:
  void SetUp() override { SetUpProcess(kThreads); }
  void TearDown() override { SetUpProcess(0); }
};

bool MayBeFewer() { return std::getenv("OMP_THREAD_LIMIT") || std::getenv("OMP_DYNAMIC"); }

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Works until the clock has gone on by so much.
void SpendMilliseconds(int milliseconds) {
  const double end = Now() + milliseconds / 1e3;
  while (Now() < end) {
  }
}

// Threads wait here until so many of them have come.
class Meeting {
 public:
  explicit Meeting(int expected) : expected_(expected) {}

  // Returns false where the others have not come within a minute.
  bool Wait() {
    std::unique_lock lock(mutex_);
    if (++come_ == expected_) all_.notify_all();
    return all_.wait_for(lock, std::chrono::minutes(1), [this] { return come_ >= expected_; });
  }

 private:
  const int expected_;
  std::mutex mutex_;
  std::condition_variable all_;
  int come_ = 0;
};

TEST_F(RunApartTest, EveryTaskIsDoneOnceByOneOfSeveralThreads) {
  if (MayBeFewer()) GTEST_SKIP() << "OMP_THREAD_LIMIT or OMP_DYNAMIC may allow fewer threads";
  std::vector<std::atomic<int>> times(50);
  Meeting meeting(kThreads);  // with fewer threads the first tasks would wait in vain
  std::atomic<int> alone = 0;
  RunApart(times.size(), [&](size_t i) {
    ++times[i];
    if (!meeting.Wait()) ++alone;
  });
  for (const std::atomic<int>& count : times) EXPECT_EQ(count, 1);
  EXPECT_EQ(alone, 0);
}

TEST_F(RunApartTest, TasksSeeTheCallersGradientModeAndForms) {
  const auto tasks_that_see = [](bool gradients, Form form) {
    std::atomic<int> count = 0;
    Meeting meeting(MayBeFewer() ? 1 : kThreads);  // so that every thread has a task
    RunApart(20, [&](size_t) {
      meeting.Wait();
      if (GradEnabled() == gradients && UseForm::Wanted() == form) ++count;
    });
    return count.load();
  };
  const Form usual = UseForm::Wanted();  // TANDEM_FORMS may say so
  {
    const NoGradGuard no_gradient;
    EXPECT_EQ(tasks_that_see(false, usual), 20);
  }
  for (const Form form : {Form::kReference, Form::kPortable}) {
    const UseForm use_form(form);
    EXPECT_EQ(tasks_that_see(true, form), 20);
  }
  // Nor do the threads keep them.
  EXPECT_EQ(tasks_that_see(true, usual), 20);
}

TEST_F(RunApartTest, WhatATaskThrowsArrivesAndEndsTheRest) {
  std::atomic<int> begun = 0;
  try {
    RunApart(100000, [&](size_t i) {
      ++begun;
      if (i == 4) throw std::runtime_error("the fifth");
      SpendMilliseconds(1);  // all tasks together would take half a minute
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the fifth");
  }
  EXPECT_LT(begun, 100000);
  begun = 0;
  RunApart(10, [&](size_t) { ++begun; });
  EXPECT_EQ(begun, 10);
}

// Each time lies between what is measured inside its scope and around it.
TEST_F(RunApartTest, AProfileSharesOutTheTimeOfAllThreads) {
  if (MayBeFewer()) GTEST_SKIP() << "OMP_THREAD_LIMIT or OMP_DYNAMIC may allow fewer threads";
  Profile profile;
  std::mutex mutex;
  double inside = 0, around = 0, outer_inside = 0;
  const double start = Now();
  {
    const ActiveProfile active(&profile);
    const ProfileScope outer("outer");
    const double outer_start = Now();
    RunApart(9, [&](size_t) {
      const double task_start = Now();
      double spent = 0;
      {
        const ProfileScope scope("task", {.flops = 2, .bytes = 1});
        Profile::Active()->AddProduct({3, 5});
        const double scope_start = Now();
        SpendMilliseconds(5);
        spent = Now() - scope_start;
      }
      const std::lock_guard lock(mutex);
      inside += spent;
      around += Now() - task_start;
    });
    outer_inside = Now() - outer_start;
  }
  const double whole = Now() - start;
  ASSERT_EQ(profile.operations().size(), 2U);
  const Profile::Operation &task = profile.operations()[0], &outer = profile.operations()[1];
  EXPECT_EQ(task.name, "task");
  EXPECT_EQ(task.calls, 9);
  EXPECT_EQ(task.work.flops, 18);
  EXPECT_EQ(task.work.bytes, 9);
  EXPECT_EQ(profile.products().size(), 1U);
  EXPECT_GE(task.seconds * kThreads, inside);
  EXPECT_LE(task.seconds * kThreads, around);
  EXPECT_GE(task.seconds + outer.seconds, outer_inside);
  EXPECT_LE(task.seconds + outer.seconds, whole);
}

}  // namespace
}  // namespace tandem::tensor
