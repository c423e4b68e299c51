// Runs independent tasks in parallel on the compute threads, each on a single thread.
#pragma once

#include <cstddef>
#include <functional>

namespace tandem::tensor {

// Starts task(0) to task(count - 1) in this order, as threads become free. Tensor operations of a
// task use the task's thread only. Tasks have the caller's gradient mode and UseForm. The
// caller's profile counts their operations, each with its time divided by the number of threads.
// Rethrows the first exception of a task; tasks that have not started then never do. Tasks that
// encode with one model need it prepared (Linear::Prepare) before.
void RunApart(size_t count, const std::function<void(size_t)>& task);

}  // namespace tandem::tensor
