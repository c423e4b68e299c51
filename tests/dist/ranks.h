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
#include "dist/thread_groups.h"

namespace tandem::dist {

// Gives the thread of a rank its group.
using RankJoiner = std::function<std::unique_ptr<ProcessGroup>(int rank)>;
// Makes what joins the ranks of one group, whose waits end after `timeout` where they do.
using GroupsOfTests = std::function<RankJoiner(int ranks, std::chrono::milliseconds timeout)>;

// The groups that RunRanks runs in: of threads (thread_groups.h), unless the test program has set
// others before its tests.
inline GroupsOfTests& TestGroups() {
  static GroupsOfTests groups = [](int ranks, std::chrono::milliseconds) -> RankJoiner {
    return [place = std::make_shared<MeetingPlace>(ranks)](int rank) {
      return std::make_unique<ThreadGroup>(place, rank);
    };
  };
  return groups;
}

// Calls `body` for each rank on a thread of its own, with the group that `join` gives it; returns
// what each threw, "" for nothing.
inline std::vector<std::string> RunJoined(int ranks, const RankJoiner& join,
                                          const std::function<void(ProcessGroup& group)>& body) {
  std::vector<std::string> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const std::unique_ptr<ProcessGroup> group = join(rank);
        try {
          body(*group);
        } catch (const std::exception& error) {
          group->Report(1, error.what());
          throw;
        }
        group->Leave();
      } catch (const std::exception& error) {
        errors[static_cast<size_t>(rank)] = error.what();
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
  return RunJoined(ranks, TestGroups()(ranks, timeout), body);
}

}  // namespace tandem::dist
