// Runs the ranks of a group as threads of a test.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dist/process_group.h"
#include "support/free_port.h"

namespace tandem::dist {

inline Launch LaunchOf(int rank, int ranks, int port) {
  return {.rank = rank, .ranks = ranks, .address = "127.0.0.1", .port = port};
}

// Calls `body` for each launch on a thread of its own; returns what each threw, "" for nothing.
inline std::vector<std::string> RunLaunches(const std::vector<Launch>& launches,
                                            const GroupOptions& options,
                                            const std::function<void(ProcessGroup& group)>& body) {
  std::vector<std::string> errors(launches.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < launches.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        const std::unique_ptr<ProcessGroup> group = ProcessGroup::Join(launches[i], options);
        try {
          body(*group);
        } catch (const std::exception& error) {
          group->Report(1, error.what());
          throw;
        }
        group->Leave();
      } catch (const std::exception& error) {
        errors[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

// Runs ranks 0 to ranks - 1 of one group.
inline std::vector<std::string> RunRanks(
    int ranks, const std::function<void(ProcessGroup& group)>& body,
    std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  std::vector<Launch> launches;
  const int port = FreePort();
  for (int rank = 0; rank < ranks; ++rank) launches.push_back(LaunchOf(rank, ranks, port));
  return RunLaunches(launches, {.timeout = timeout}, body);
}

}  // namespace tandem::dist
