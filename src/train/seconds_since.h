// The time that parts of a run take.
#pragma once

#include <chrono>

namespace tandem::train {

inline double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace tandem::train
