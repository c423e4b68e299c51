// What every call that computes does first, and how Python looks at signals and shows progress
// meanwhile.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <thread>

#include "base/process/interrupt.h"

namespace tandem::python {

// Sets the process up for tensors (tensor/machine/process.h) at the first call, with the threads of
// SetThreads. Throws UsageError in a process that was forked from one that had computed: threads of
// OpenMP do not come along with a fork, and the first parallel region would wait for them for ever.
void BeginComputing();

// Does BeginComputing and then `work`, to be called without the GIL. In a process that was forked
// and runs the same program, it works on a thread of its own: the forked thread may have an
// OpenMP's team whose threads stayed behind, by another library that computed before the fork.
void Compute(const std::function<void()>& work);

// The number of threads to compute with; 0: all that this process may use. Throws UsageError for a
// negative number.
void SetThreads(int threads);
// The threads that a computation takes now.
int ThreadsNow();

// Python's part in a long call without the GIL. Made with the GIL by the thread that calls Run.
class Supervision {
 public:
  // `progress` is called with a number of texts, by the thread of Run; None: nobody.
  explicit Supervision(nanobind::object progress);
  ~Supervision();
  Supervision(const Supervision&) = delete;
  Supervision& operator=(const Supervision&) = delete;

  // Runs `work` by Compute, without the GIL. If a signal handler or `progress` has raised, rethrows
  // that in place of the Interrupted which `work` then throws.
  template <typename Work>
  void Run(const Work& work) {
    try {
      const nanobind::gil_scoped_release without_gil;
      Compute([&] {
        thread_ = std::this_thread::get_id();
        work();
      });
    } catch (const Interrupted&) {
      RethrowPythonError();
      throw;
    }
  }

  // For EncodeOptions and the like; they may be called by any thread, during Run.
  StopRequest stop() {
    return [this] { return Look(); };
  }
  void SetDone(size_t texts) { done_ = texts; }

 private:
  int Look();
  void RethrowPythonError();

  nanobind::object progress_;
  std::thread::id thread_;  // that looks
  std::chrono::steady_clock::time_point looked_;
  std::atomic<bool> stopped_ = false;
  std::atomic<size_t> done_ = 0;
  std::optional<nanobind::python_error> raised_;
};

}  // namespace tandem::python
