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

void Watch(int signal, struct sigaction* before) {
  ::sigaction(signal, nullptr, before);
  if (before->sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = NoteSignal;
  action.sa_flags = SA_RESTART;  // a write that is under way goes on
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

}  // namespace tandem::train
