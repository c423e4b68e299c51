#include "cli/process/signal_watch.h"

#include <gtest/gtest.h>

#include <csignal>

namespace tandem::app {
namespace {

using Handler = void (*)(int);

Handler HandlerOf(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

TEST(SignalWatch, NotesASignalAndPutsBackWhatWasThere) {
  const Handler before = HandlerOf(SIGTERM);
  {
    const SignalWatch watch;
    EXPECT_EQ(SignalWatch::Received(), 0);
    std::raise(SIGTERM);
    EXPECT_EQ(SignalWatch::Received(), SIGTERM);
  }
  EXPECT_EQ(HandlerOf(SIGTERM), before);
}

TEST(SignalWatch, LeavesIgnoredSignalsIgnored) {
  const Handler before = std::signal(SIGINT, SIG_IGN);
  {
    const SignalWatch watch;
    std::raise(SIGINT);
    EXPECT_EQ(SignalWatch::Received(), 0);
  }
  EXPECT_EQ(HandlerOf(SIGINT), SIG_IGN);
  std::signal(SIGINT, before);
}

}  // namespace
}  // namespace tandem::app
