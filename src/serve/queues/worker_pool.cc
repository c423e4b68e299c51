#include "serve/queues/worker_pool.h"

#include <algorithm>
#include <utility>

namespace tandem::serve {

WorkerPool::WorkerPool(size_t threads, size_t of_client)
    : of_client_(std::max<size_t>(1, of_client)) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() { Stop(); }

void WorkerPool::Post(const std::string& client, std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  auto [entry, added] = by_name_.try_emplace(client);
  if (added) entry->second = turns_.insert(turns_.end(), Client{.name = client});
  entry->second->tasks.push_back(std::move(task));
  filled_.notify_one();
}

void WorkerPool::Stop() {
  std::vector<std::deque<std::function<void()>>> dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (Client& client : turns_) dropped.push_back(std::exchange(client.tasks, {}));
    filled_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

WorkerPool::Clients::iterator WorkerPool::NextClient() {
  return std::find_if(turns_.begin(), turns_.end(), [&](const Client& client) {
    return !client.tasks.empty() && client.running < of_client_;
  });
}

void WorkerPool::End(Clients::iterator client) {
  --client->running;
  if (!client->tasks.empty()) {
    filled_.notify_one();  // it may have been at its part of the threads
  } else if (client->running == 0) {
    by_name_.erase(client->name);
    turns_.erase(client);
  }
}

void WorkerPool::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    auto client = turns_.end();
    filled_.wait(lock, [&] { return stopped_ || (client = NextClient()) != turns_.end(); });
    if (stopped_) return;
    std::function<void()> task = std::move(client->tasks.front());
    client->tasks.pop_front();
    ++client->running;
    turns_.splice(turns_.end(), turns_, client);
    lock.unlock();
    task();
    task = nullptr;  // frees what it holds, which may be large
    lock.lock();
    End(client);
  }
}

}  // namespace tandem::serve
