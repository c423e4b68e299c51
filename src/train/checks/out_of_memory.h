// Advises a user whose training step does not fit into the memory of the GPU.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tensor/machine/device.h"

namespace tandem::train {

// The size of a batch that did not fit.
struct BatchSize {
  int64_t queries = 0;
  int64_t tokens = 0;        // of the whole batch
  int64_t chunk_tokens = 0;  // most tokens of a chunk; 0: the batch is not split
};

// Returns the error's message. `problem` is libtorch's message, which says how much memory it asked
// for; `before` is the device's memory before the batch, `after` the memory once the batch has
// failed. The memory that the forward pass takes beyond `before` is divided by its tokens; this
// gives the number of tokens for which the device has room. The message advises a smaller
// train.chunk_tokens or a smaller batch accordingly. If the device reports no memory (total = 0),
// it advises half of the present size.
std::string OutOfMemoryText(const c10::Device& device, std::string_view problem,
                            const BatchSize& batch, const tensor::DeviceMemory& before,
                            const tensor::DeviceMemory& after);

// Returns the advice to a user if a batch or chunk of `tokens_of_pass` tokens does not fit and one
// of `fitting` tokens would: a smaller train.chunk_tokens or a smaller batch. If next to nothing
// fits, it advises to train in a way that takes less memory, or to use `larger` ("a larger
// device").
std::string BatchAdvice(const BatchSize& batch, int64_t tokens_of_pass, int64_t fitting,
                        std::string_view larger);

// Returns the bytes that libtorch could not allocate, as its message says ("Tried to allocate 2.50
// GiB"); 0 if the message does not say it.
uint64_t AskedFor(std::string_view problem);

// Calls `step`. Throws UsageError with OutOfMemoryText if the device's memory is full.
void WithMemoryAdvice(const c10::Device& device, const BatchSize& batch,
                      const std::function<void()>& step);

}  // namespace tandem::train
