// Errors of libraries that are the machine's fault, not Tandem's.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace tandem::app {

// What to tell of an error that no part of Tandem has made one of its own; none where it is a bug.
// tandem-torch has the source that knows libtorch's: the memory of a device, or of this process, is
// full. Training says more of the former itself (train/checks/out_of_memory.h).
std::optional<std::string> MachineProblem(const std::exception& error);

}  // namespace tandem::app
