#include "train/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace tandem::train {
namespace {

volatile std::sig_atomic_t received = 0;

extern "C" void NoteSignal(int signal) {
  if (received != 0) ::_exit(128 + signal);
  received = signal;
}

}  // namespace

SignalWatch::SignalWatch() {
  received = 0;
  struct sigaction action {};
  action.sa_handler = NoteSignal;
  action.sa_flags = SA_RESTART;  // a write that is under way goes on
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

SignalWatch::~SignalWatch() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int SignalWatch::Received() { return received; }

}  // namespace tandem::train
