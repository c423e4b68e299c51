// Recognises errors of libraries that the machine causes, not Tandem.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace tandem::app {

// Returns the message for an error that no part of Tandem has replaced by its own; none if the
// error is a bug. Only tandem-torch has the source file for libtorch's errors: the memory of a
// device, or of this process, is full. Training reports the former in more detail
// (train/checks/out_of_memory.h).
std::optional<std::string> MachineProblem(const std::exception& error);

}  // namespace tandem::app
