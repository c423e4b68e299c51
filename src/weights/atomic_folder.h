// The folder that appears under its name only when it is complete, under the name of this room.
#pragma once

#include "base/atomic_folder.h"

namespace tandem::weights {

using tandem::AtomicFolder;

}  // namespace tandem::weights
