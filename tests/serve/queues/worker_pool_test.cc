#include "serve/queues/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tandem::serve {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(WorkerPoolTest, ClientsTakeTurnsAndTheirOwnTasksStayInOrder) {
  std::promise<void> open;
  const std::shared_future<void> gate = open.get_future();
  std::mutex mutex;
  std::vector<std::string> order;
  {
    WorkerPool pool(1, 1);
    std::promise<void> done;
    pool.Post("first", [gate] { gate.wait(); });
    for (const char* name : {"a1", "a2", "a3", "b1", "c1"}) {
      pool.Post(std::string(1, name[0]), [&, name] {
        const std::lock_guard lock(mutex);
        order.emplace_back(name);
        if (order.size() == 5) done.set_value();
      });
    }
    open.set_value();
    ASSERT_EQ(done.get_future().wait_for(10s), std::future_status::ready);
  }
  EXPECT_THAT(order, ElementsAre("a1", "b1", "c1", "a2", "a3"));
}

TEST(WorkerPoolTest, NoClientHasAllThreads) {
  std::promise<void> open, other;
  const std::shared_future<void> gate = open.get_future();
  std::atomic<int> running = 0, most = 0, done = 0;
  WorkerPool pool(3, 2);
  for (int i = 0; i < 20; ++i) {
    pool.Post("greedy", [&, gate] {
      most = std::max<int>(most, ++running);
      gate.wait();
      --running;
      ++done;
    });
  }
  pool.Post("other", [&] { other.set_value(); });
  EXPECT_EQ(other.get_future().wait_for(10s), std::future_status::ready);
  open.set_value();
  for (int i = 0; i < 1000 && done < 20; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(done, 20);
  EXPECT_LE(most, 2);
}

TEST(WorkerPoolTest, StopDropsWhatWaits) {
  std::promise<void> started, open;
  std::atomic<bool> ran = false;
  WorkerPool pool(1, 1);
  pool.Post("a", [&] {
    started.set_value();
    open.get_future().wait();
  });
  started.get_future().wait();
  pool.Post("a", [&] { ran = true; });
  std::thread stopping([&] { pool.Stop(); });
  std::this_thread::sleep_for(20ms);
  open.set_value();
  stopping.join();
  pool.Post("a", [&] { ran = true; });
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace tandem::serve
