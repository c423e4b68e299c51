// Reads a large file on a thread of its own, while its lines are parsed on another.
#pragma once

#include <cstddef>
#include <memory>

#include "data/input/byte_source.h"

namespace tandem::data {

// The bytes of `source`, in order. Up to `start_at` bytes are read when they are asked for, so that
// a small file needs no thread; what follows is read ahead, some megabytes at most. What the source
// throws, Read throws in its place. The source must not wait for ever (a pipe): the destructor
// waits for the read that goes on.
std::unique_ptr<ByteSource> ReadAhead(std::unique_ptr<ByteSource> source,
                                      size_t start_at = size_t{1} << 24);

}  // namespace tandem::data
