// Independent tasks side by side on the compute threads, each on one of them.
#pragma once

#include <cstddef>
#include <functional>

namespace tandem::tensor {

// Calls task(0) to task(count - 1) in this order, as threads become free; tensor operations inside
// run on the task's thread alone. Tasks see the caller's gradient mode, reference forms and
// profile, in which their operations then stand with the time that they took divided by the number
// of threads. What a task throws is thrown here, by the first of several; later tasks are then not
// begun. Tasks that encode with one model need it prepared (Linear::Prepare)
// before.
void RunApart(size_t count, const std::function<void(size_t)>& task);

}  // namespace tandem::tensor
