#include "python/computing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/process/threads.h"
#include "tensor/machine/process.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;

// As often as a person can see it; taking the GIL costs more where other threads have it.
constexpr std::chrono::milliseconds kBetweenLooks(50);

struct ProcessState {
  std::mutex mutex;
  std::atomic<pid_t> computing = 0;  // the process that has computed; 0: none
  std::atomic<int> threads = 0;      // that are asked for; 0: all
  int set_up = -1;                   // `threads` of the last SetUpProcess
};

ProcessState& State() {
  static ProcessState state;
  return state;
}

// Linux's flag of a process that was forked and has not started another program since.
constexpr unsigned long kForkedNoExec = 0x40;

bool ReadForked() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // The name of the program, in parentheses, may hold anything. Six fields stand between it and the
  // flags.
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < 6; ++i) fields >> skipped;
  unsigned long flags = 0;
  return fields >> flags && (flags & kForkedNoExec) != 0;
}

// Whether this process was forked from one that ran this program.
bool IsForked() {
  static std::atomic<pid_t> known = 0;
  static std::atomic<bool> forked = false;
  const pid_t own = ::getpid();
  if (known != own) {
    forked = ReadForked();
    known = own;
  }
  return forked;
}

}  // namespace

void Compute(const std::function<void()>& work) {
  thread_local bool is_own = false;
  BeginComputing();
  if (!IsForked() || is_own) return work();
  std::exception_ptr failure;
  std::thread([&] {
    is_own = true;  // for Python's code that computes again
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

void BeginComputing() {
  ProcessState& state = State();
  const pid_t own = ::getpid();
  pid_t none = 0;
  if (!state.computing.compare_exchange_strong(none, own) && state.computing != own) {
    throw UsageError(fmt::format(
        "process {} was forked from process {}, which had computed with Tandem before: "
        "its threads did not come along. Start processes with the method \"spawn\" "
        "(multiprocessing.get_context(\"spawn\")), or fork before the first computation",
        own, state.computing.load()));
  }
  const std::lock_guard lock(state.mutex);
  const int threads = state.threads;
  if (state.set_up == threads) return;
  tensor::SetUpProcess(threads);
  state.set_up = threads;
}

void SetThreads(int threads) {
  constexpr int kMost = 4096;  // as --threads
  if (threads < 0 || threads > kMost) {
    throw UsageError(fmt::format("threads is {}; expected 0 (all) to {}", threads, kMost));
  }
  State().threads = threads;
}

int ThreadsNow() {
  const int threads = State().threads;
  return threads > 0 ? threads : UsableThreads();
}

Supervision::Supervision(nb::object progress)
    : progress_(std::move(progress)), looked_(std::chrono::steady_clock::now()) {}

Supervision::~Supervision() = default;

int Supervision::Look() {
  if (stopped_) return SIGINT;
  if (std::this_thread::get_id() != thread_) return 0;
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < kBetweenLooks) return 0;
  const nb::gil_scoped_acquire gil;
  try {
    if (!progress_.is_none()) progress_(done_.load());
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  } catch (nb::python_error& error) {
    raised_.emplace(std::move(error));
    stopped_ = true;
  }
  looked_ = std::chrono::steady_clock::now();
  return stopped_ ? SIGINT : 0;
}

void Supervision::RethrowPythonError() {
  if (!raised_) return;
  nb::python_error error = std::move(*raised_);
  raised_.reset();
  throw error;
}

}  // namespace tandem::python
