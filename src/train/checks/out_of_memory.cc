#include "train/checks/out_of_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_size.h"
#include "base/error.h"

namespace tandem::train {
namespace {

// The share of a GPU's memory that tensors may use. The rest is lost in fragments of its allocator.
constexpr double kUsable = 0.9;
// The fewest tokens that are advised, because fewer would leave a GPU mostly idle.
constexpr int64_t kLeastTokens = 64;
constexpr std::string_view kLargerDevice = "a larger device";
constexpr std::string_view kMoreMemory = "more memory for this process (ulimit -v, ulimit -d)";

// The number of tokens of a forward pass that would fit, at most half of the number that did not
// fit.
int64_t FittingTokens(int64_t tokens, double resident, double needed, double total) {
  const double per_token = (needed - resident) / static_cast<double>(std::max<int64_t>(1, tokens));
  const double fitting =
      per_token > 0 ? (kUsable * total - resident) / per_token : static_cast<double>(tokens);
  return std::min(static_cast<int64_t>(std::max(0.0, fitting)), tokens / 2);
}

int64_t InWholeBlocks(int64_t tokens) { return tokens / kLeastTokens * kLeastTokens; }

}  // namespace

std::string BatchAdvice(const BatchSize& batch, int64_t tokens_of_pass, int64_t fitting,
                        std::string_view larger) {
  if (InWholeBlocks(fitting) <= 0) {
    return fmt::format(
        "the model and what the optimizer keeps leave no room for a batch; use model.train = "
        "\"lora\", optimizer.name = \"adafactor\", or {}",
        larger);
  }
  std::string advice = fmt::format("give train.chunk_tokens = {}", InWholeBlocks(fitting));
  if (batch.chunk_tokens > 0) return advice + ", or shorter texts";
  const int64_t queries = batch.queries * fitting / std::max<int64_t>(1, tokens_of_pass);
  if (queries >= 2) advice += fmt::format(", or train.batch = {}", queries);
  return advice;
}

std::string OutOfMemoryText(const tensor::Device& device, uint64_t asked_for,
                            const BatchSize& batch, const tensor::DeviceMemory& before,
                            const tensor::DeviceMemory& after) {
  const bool chunked = batch.chunk_tokens > 0;
  const int64_t tokens = chunked ? std::min(batch.chunk_tokens, batch.tokens) : batch.tokens;
  const std::string what = fmt::format(
      "{} is out of memory: a batch of {} queries with {} tokens{}", device.str(), batch.queries,
      batch.tokens, chunked ? fmt::format(" in chunks of {}", batch.chunk_tokens) : "");
  if (after.total == 0) {
    const std::string asked =
        asked_for > 0 ? fmt::format(" ({} more were not to be had)", FormatByteSize(asked_for))
                      : "";
    return fmt::format(
        "{} does not fit{}; {}", what, asked,
        BatchAdvice(batch, tokens, tokens / 2, device.is_cpu() ? kMoreMemory : kLargerDevice));
  }
  const uint64_t needed = std::max(after.most_used, before.used) + asked_for;
  const int64_t fitting =
      FittingTokens(tokens, static_cast<double>(before.used), static_cast<double>(needed),
                    static_cast<double>(after.total));
  return fmt::format(
      "{} needs {} or more, of which model and optimizer have {}, and the device has "
      "{}; {}",
      what, FormatByteSize(needed), FormatByteSize(before.used), FormatByteSize(after.total),
      BatchAdvice(batch, tokens, fitting, kLargerDevice));
}

void WithMemoryAdvice(const tensor::Device& device, const BatchSize& batch,
                      const std::function<void()>& step) {
  const tensor::DeviceMemory before = tensor::MemoryOf(device);
  tensor::ForgetMostUsed(device);
  try {
    step();
  } catch (const MemoryError& error) {
    if (error.of_device() == device.is_cpu()) throw;  // it is another memory that is full
    throw UsageError(
        OutOfMemoryText(device, error.bytes(), batch, before, tensor::MemoryOf(device)));
  }
}

}  // namespace tandem::train
