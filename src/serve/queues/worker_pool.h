// A few threads that do the work of requests beside encoding: parse, tokenise, search, write
// responses.
//
// Clients take turns, and none has more than its part of the threads, so that whoever asks for much
// waits for himself.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace tandem::serve {

class WorkerPool {
 public:
  // `of_client`: how many threads one client may have at a time; at least 1.
  WorkerPool(size_t threads, size_t of_client);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();  // calls Stop

  // Runs `task` on one of the threads, after those of the same client. It must not throw. Once
  // stopped, the pool drops it.
  void Post(const std::string& client, std::function<void()> task);

  // Waits for tasks that run and drops those that wait.
  void Stop();

 private:
  struct Client {
    std::string name;
    std::deque<std::function<void()>> tasks;
    size_t running = 0;
  };
  using Clients = std::list<Client>;

  void Run();
  // The first client that may run a task; end() where there is none.
  Clients::iterator NextClient();
  void End(Clients::iterator client);  // a task of this client has run

  const size_t of_client_;
  std::mutex mutex_;
  std::condition_variable filled_;
  Clients turns_;  // clients with tasks that wait or run; the next one in front
  std::unordered_map<std::string, Clients::iterator> by_name_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tandem::serve
