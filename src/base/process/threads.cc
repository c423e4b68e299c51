#include "base/process/threads.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/process/launch.h"

namespace tandem {
namespace {

int AffinityThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  return std::max(1, CPU_COUNT(&set));
}

// Reads the CPU quota of a cgroup, version 2 or 1, in threads. It is large where there is none.
double CgroupQuota() {
  constexpr double kNone = 1e9;
  double period = 0;
  std::string quota;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period) {
    return quota == "max" || period <= 0 ? kNone : std::stod(quota) / period;
  }
  double limit = -1;
  std::ifstream limit_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (limit_file >> limit && period_file >> period && limit > 0 && period > 0) {
    return limit / period;
  }
  return kNone;
}

// The processors that a launcher's processes on this machine have together, where it binds each to
// some of them; 0: it binds none, or nobody knows.
int ProcessorsOfAll(const Launch& launch) {
  if (launch.launcher == "mpirun") return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (launch.launcher != "srun") return 0;
  const char* given = std::getenv("SLURM_CPUS_ON_NODE");  // NOLINT(concurrency-mt-unsafe)
  return given == nullptr ? 0 : std::atoi(given);
}

// Says how many processes share what this one may use. A launch that does not make sense is for
// those to report that need it.
int Sharing(int affinity) {
  try {
    const Launch launch = CurrentPlace();
    return affinity < ProcessorsOfAll(launch) ? 1 : launch.local_ranks;
  } catch (const UsageError&) {
    return 1;
  }
}

}  // namespace

int UsableThreads() {
  const int affinity = AffinityThreads();
  const double quota = std::ceil(std::max(1.0, CgroupQuota()));
  const int usable = static_cast<int>(std::min(static_cast<double>(affinity), quota));
  return std::max(1, usable / Sharing(affinity));
}

void ParallelFor(size_t count, size_t grain, int threads,
                 const std::function<void(size_t begin, size_t end)>& body) {
  if (count == 0) return;
  grain = std::max<size_t>(1, grain);
  const size_t ranges = (count + grain - 1) / grain;
  const size_t workers = std::min<size_t>(static_cast<size_t>(std::max(1, threads)), ranges);
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    for (size_t range = next++; range < ranges; range = next++) {
      try {
        body(range * grain, std::min(count, (range + 1) * grain));
      } catch (...) {
        const std::scoped_lock lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next = ranges;
      }
    }
  };
  std::vector<std::jthread> helpers;
  for (size_t i = 1; i < workers; ++i) helpers.emplace_back(work);
  work();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tandem
