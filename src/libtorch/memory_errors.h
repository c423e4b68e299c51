// Turns libtorch's errors that say that memory is full into Tandem's, at the back end's boundary:
// nothing outside it knows libtorch's classes.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace tandem::libtorch {

// The bytes that libtorch did not get, by its message ("Tried to allocate 2.50 GiB", "you tried to
// allocate 589824 bytes"); 0 where it does not say.
uint64_t AskedFor(std::string_view problem);

// Throws MemoryError (base/error.h) where `error` says that a device's or the host's memory is
// full; else returns.
void ThrowIfMemoryIsFull(const c10::Error& error);

// Returns what `body` returns. Where it throws because memory is full, that is MemoryError.
template <typename Body>
decltype(auto) WithMemoryErrors(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const c10::Error& error) {
    ThrowIfMemoryIsFull(error);
    throw;
  }
}

}  // namespace tandem::libtorch
