// A few threads that do the short work of requests: parse, tokenise, search, write responses.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tandem::serve {

class WorkerPool {
 public:
  explicit WorkerPool(size_t threads);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();  // calls Stop

  // Runs `task` on one of the threads, behind those that wait. It must not throw. Once stopped, the
  // pool drops it.
  void Post(std::function<void()> task);

  // Waits for tasks that run and drops those that wait.
  void Stop();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<std::function<void()>> tasks_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tandem::serve
