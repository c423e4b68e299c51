// Advises a user whose training step does not fit into the memory of the device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tensor/core/device.h"
#include "tensor/machine/device.h"

namespace tandem::train {

// The size of a batch that did not fit.
struct BatchSize {
  int64_t queries = 0;
  int64_t tokens = 0;        // of the whole batch
  int64_t chunk_tokens = 0;  // most tokens of a chunk; 0: the batch is not split
};

// Returns the error's message. `asked_for` is the number of bytes that the device did not give, 0
// if nobody knows; `before` is the device's memory before the batch, `after` the memory once the
// batch has failed. The memory that the forward pass takes beyond `before` is divided by its
// tokens; this gives the number of tokens for which the device has room. The message advises a
// smaller train.chunk_tokens or a smaller batch accordingly. If the device reports no memory (total
// = 0), it advises half of the present size.
std::string OutOfMemoryText(const tensor::Device& device, uint64_t asked_for,
                            const BatchSize& batch, const tensor::DeviceMemory& before,
                            const tensor::DeviceMemory& after);

// Returns the advice to a user if a batch or chunk of `tokens_of_pass` tokens does not fit and one
// of `fitting` tokens would: a smaller train.chunk_tokens or a smaller batch. If next to nothing
// fits, it advises to train in a way that takes less memory, or to use `larger` ("a larger
// device").
std::string BatchAdvice(const BatchSize& batch, int64_t tokens_of_pass, int64_t fitting,
                        std::string_view larger);

// Calls `step`. Throws UsageError with OutOfMemoryText if it throws the MemoryError (base/error.h)
// that the device's memory is full, which for the processor is this process's.
void WithMemoryAdvice(const tensor::Device& device, const BatchSize& batch,
                      const std::function<void()>& step);

}  // namespace tandem::train
