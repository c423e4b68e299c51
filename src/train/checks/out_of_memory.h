// What to do about a device whose memory a training step does not fit into.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tensor/machine/device.h"

namespace tandem::train {

// What one batch asks of a device.
struct BatchSize {
  int64_t queries = 0;
  int64_t tokens = 0;        // of the whole batch
  int64_t chunk_tokens = 0;  // of a pass at most; 0: the whole batch is one pass
};

// The error's message. `problem` is libtorch's, which says how much was asked for; `before` is the
// device's memory before the batch, `after` once the batch has failed. The memory that a pass takes
// beyond `before` is shared among its tokens, and what the device has left for tokens is advised:
// a smaller train.chunk_tokens, or a smaller batch. Where the device says nothing (total = 0), the
// advice is half of what it was.
std::string OutOfMemoryText(const c10::Device& device, std::string_view problem,
                            const BatchSize& batch, const tensor::DeviceMemory& before,
                            const tensor::DeviceMemory& after);

// What to give instead, where `fitting` tokens of a pass of `tokens_of_pass` would fit: a smaller
// train.chunk_tokens or batch; where that would leave next to nothing, what takes less memory than
// the model does as it is trained, or `larger` ("a larger device").
std::string BatchAdvice(const BatchSize& batch, int64_t tokens_of_pass, int64_t fitting,
                        std::string_view larger);

// Bytes that libtorch's message says it could not get: of "Tried to allocate 2.50 GiB"; 0 where it
// says nothing.
uint64_t AskedFor(std::string_view problem);

// Calls `step`. Throws UsageError with OutOfMemoryText where the device's memory is full.
void WithMemoryAdvice(const c10::Device& device, const BatchSize& batch,
                      const std::function<void()>& step);

}  // namespace tandem::train
