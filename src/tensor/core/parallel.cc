#include "tensor/core/parallel.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <stdexcept>

namespace tandem::tensor {
namespace {

std::atomic<int> set_threads = 0;  // 0: OpenMP's own count

// OpenMP keeps a count for each thread, which other users of it (oneDNN, FAISS) go by: makes it the
// process's in this thread.
int Applied(int threads) {
  thread_local int applied = 0;
  if (applied != threads) {
    omp_set_num_threads(threads);
    applied = threads;
  }
  return threads;
}

int64_t RoundedUpQuotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Keeps the first exception of several threads.
class FirstError {
 public:
  void Keep(std::exception_ptr error) {
    if (!kept_.exchange(true)) error_ = std::move(error);
  }
  void Rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> kept_ = false;
  std::exception_ptr error_;
};

}  // namespace

int ThreadCount() {
  const int threads = set_threads.load(std::memory_order_relaxed);
  return threads == 0 ? std::max(1, omp_get_max_threads()) : Applied(threads);
}

void SetThreadCount(int threads) {
  if (threads < 1) {
    throw std::logic_error(fmt::format("SetThreadCount: expected 1 or more, found {}", threads));
  }
  set_threads = threads;
  Applied(threads);
}

int Threads() { return omp_in_parallel() != 0 ? 1 : ThreadCount(); }

// The region always has ThreadCount() threads, of which some may have nothing to do: GCC's OpenMP
// ends and starts threads where the number changes from region to region.
void ParallelFor(int64_t begin, int64_t end, int64_t grain,
                 const std::function<void(int64_t first, int64_t past)>& body) {
  if (begin >= end) return;
  grain = std::max<int64_t>(grain, 1);
  const int threads = end - begin > grain ? Threads() : 1;
  if (threads == 1) {
    body(begin, end);
    return;
  }
  FirstError error;
#pragma omp parallel num_threads(threads)
  {
    const int64_t ranges =
        std::min<int64_t>(omp_get_num_threads(), RoundedUpQuotient(end - begin, grain));
    const int64_t length = RoundedUpQuotient(end - begin, ranges);
    const int64_t first = begin + omp_get_thread_num() * length;
    try {
      if (first < end) body(first, std::min(end, first + length));
    } catch (...) {
      error.Keep(std::current_exception());
    }
  }
  error.Rethrow();
}

}  // namespace tandem::tensor
