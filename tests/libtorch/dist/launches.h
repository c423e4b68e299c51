// Groups that are joined as launches of processes are: through the back end, by TCP.
#pragma once

#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "dist/ranks.h"
#include "support/free_port.h"

namespace tandem::dist {

inline Launch LaunchOf(int rank, int ranks, int port) {
  return {.rank = rank, .ranks = ranks, .address = "127.0.0.1", .port = port};
}

// Calls `body` for each launch on a thread of its own; returns what each threw, "" for nothing.
inline std::vector<std::string> RunLaunches(const std::vector<Launch>& launches,
                                            const GroupOptions& options,
                                            const std::function<void(ProcessGroup& group)>& body) {
  const auto join = [&](int i) {
    return ProcessGroup::Join(launches[static_cast<size_t>(i)], options);
  };
  return RunJoined(static_cast<int>(std::ssize(launches)), join, body);
}

// The ranks of one launch on a free port: for TestGroups.
inline RankJoiner JoinerOfLaunch(int ranks, std::chrono::milliseconds timeout) {
  return [ranks, timeout, port = FreePort()](int rank) {
    return ProcessGroup::Join(LaunchOf(rank, ranks, port), {.timeout = timeout});
  };
}

}  // namespace tandem::dist
