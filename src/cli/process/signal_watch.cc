#include "cli/process/signal_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>

#include "base/files/temporary_paths.h"
#include "base/log.h"

namespace tandem::app {
namespace {

// What a handler reads and writes is lock-free.
std::atomic<bool> watching{false};
std::atomic<int> received{0};
std::atomic<const char*> watched_part{""};
// Nanoseconds of the steady clock.
std::atomic<int64_t> last_asked{0};
std::atomic<int64_t> expected{0};  // from one question of the work to the next
// What the work has told since it asked: when it began what it has a share of, the share, and
// nanoseconds from the one to the other.
std::atomic<int64_t> part_began{0};
std::atomic<double> done_share{0};
std::atomic<int64_t> done_time{0};

// The handler writes a byte to the pipe, and a thread reads it. A process that was forked has no
// such thread.
std::atomic<int> pipe_end{-1};
std::atomic<pid_t> owner{0};

constexpr unsigned char kFirst = 0;  // other bytes are the signal that ends the process

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Seconds until the work asks again, as far as is known: from the share that it has told, else from
// the parts before, of which none may have been. Not above 0: nothing is known, or it takes longer.
double SecondsLeft() {
  constexpr double kLeastShare = 0.01;  // less says too little
  const double share = done_share.load();
  const bool told = share >= kLeastShare;
  const int64_t since = Now() - (told ? part_began : last_asked).load();
  const auto whole =
      told ? static_cast<double>(done_time.load()) / share : static_cast<double>(expected.load());
  return (whole - static_cast<double>(since)) * 1e-9;
}

void SayThatItStops() {
  const double seconds = std::ceil(SecondsLeft());
  const std::string time = seconds > 0 ? fmt::format(" (up to {:.0f} s)", seconds) : "";
  Note(fmt::format("finishing {}{}; again to stop at once", watched_part.load(), time));
}

[[noreturn]] void EndAtOnce(int signal) {
  RemoveTemporaryPaths();
  ::_exit(128 + signal);
}

void Listen(int descriptor) {
  unsigned char byte = 0;
  for (;;) {
    const ssize_t count = ::read(descriptor, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count != 1) return;
    if (byte == kFirst) {
      SayThatItStops();
    } else {
      EndAtOnce(byte);
    }
  }
}

// Starts the thread once.
void StartListener() {
  if (owner.load() == ::getpid()) return;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;  // the handler then ends the process by itself
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread takes no signal
  try {
    std::thread(Listen, ends[0]).detach();
    pipe_end = ends[1];
    owner = ::getpid();
  } catch (const std::system_error&) {  // as above
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

extern "C" void TakeSignal(int signal) {
  const int error_number = errno;
  int none = 0;
  const bool first = watching && received.compare_exchange_strong(none, signal);
  const unsigned char byte = first ? kFirst : static_cast<unsigned char>(signal);
  const bool told = owner.load() == ::getpid() && ::write(pipe_end, &byte, 1) == 1;
  if (!told && !first) ::_exit(128 + signal);
  errno = error_number;
}

void Take(int signal, struct sigaction* before) {
  ::sigaction(signal, nullptr, before);
  if (before->sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = TakeSignal;
  action.sa_flags = SA_RESTART;  // a write in progress continues
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void CleanUpOnSignals() {
  StartListener();
  struct sigaction before {};
  Take(SIGINT, &before);
  Take(SIGTERM, &before);
}

SignalWatch::SignalWatch(const char* part) {
  StartListener();
  received = 0;
  watched_part = part;
  last_asked = Now();
  expected = 0;
  done_share = 0;
  watching = true;
  Take(SIGINT, &interrupt_before_);
  Take(SIGTERM, &terminate_before_);
}

SignalWatch::~SignalWatch() {
  ::sigaction(SIGINT, &interrupt_before_, nullptr);
  ::sigaction(SIGTERM, &terminate_before_, nullptr);
  watching = false;
  received = 0;
}

int SignalWatch::Received() {
  if (watching) {
    const int64_t now = Now();
    done_share = 0;
    const int64_t interval = now - last_asked.exchange(now);
    // Long blocks count at once, and are forgotten where short ones follow.
    expected = std::max(interval, expected.load() / 2);
  }
  return received;
}

void SignalWatch::DoneOfPart(double share) {
  if (!watching) return;
  if (share == 0) part_began = Now();
  done_time = Now() - part_began.load();
  done_share = share;
}

}  // namespace tandem::app
