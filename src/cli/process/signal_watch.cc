#include "cli/process/signal_watch.h"

#include <unistd.h>

namespace tandem::app {
namespace {

volatile std::sig_atomic_t received = 0;

extern "C" void KeepSignal(int signal) {
  if (received != 0) ::_exit(128 + signal);
  received = signal;
}

void Watch(int signal, struct sigaction* before) {
  ::sigaction(signal, nullptr, before);
  if (before->sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = KeepSignal;
  action.sa_flags = SA_RESTART;  // a write in progress continues
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

SignalWatch::SignalWatch() {
  received = 0;
  Watch(SIGINT, &interrupt_before_);
  Watch(SIGTERM, &terminate_before_);
}

SignalWatch::~SignalWatch() {
  ::sigaction(SIGINT, &interrupt_before_, nullptr);
  ::sigaction(SIGTERM, &terminate_before_, nullptr);
  received = 0;
}

int SignalWatch::Received() { return received; }

}  // namespace tandem::app
