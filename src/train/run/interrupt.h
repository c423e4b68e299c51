// Stopping a run from outside: it finishes the step, saves, and throws Interrupted.
#pragma once

#include "base/process/interrupt.h"

namespace tandem::train {

// A run asks between steps and during a validation.
using tandem::Interrupted;
using tandem::StopRequest;
using tandem::StopSignal;

}  // namespace tandem::train
