// Says what helps a user whose machine has too little memory.
#pragma once

#include <string>

#include "base/error.h"

namespace tandem::app {

// Returns the message for an error that no part of Tandem has replaced by its own, with what makes
// a command need less. Training reports it in more detail (train/checks/out_of_memory.h).
std::string MemoryProblem(const MemoryError& error);

}  // namespace tandem::app
