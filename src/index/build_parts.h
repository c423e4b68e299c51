// Building in parts: one progress for all, and one way to stop.
#pragma once

#include "index/vector_index.h"

namespace tandem::index {

// The options for a part of the work that begins and ends at these shares of the whole. `options`
// must outlive what is returned.
inline BuildOptions PartOf(const BuildOptions& options, double begin, double end) {
  BuildOptions part = options;
  if (options.progress) {
    part.progress = [&options, begin, end](double share) {
      options.progress(begin + share * (end - begin));
    };
  }
  return part;
}

// Throws Interrupted where the work was asked to stop.
inline void ThrowIfBuildStopped(const BuildOptions& options) {
  if (const int signal = StopSignal(options.stop)) {
    throw Interrupted(signal, "stopped while the index was built; what was there before is there");
  }
}

}  // namespace tandem::index
