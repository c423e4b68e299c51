#include "train/checks/out_of_memory.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/byte_size.h"
#include "base/error.h"

namespace tandem::train {
namespace {

// The share of a GPU's memory that tensors may use. The rest is lost in fragments of its allocator.
constexpr double kUsable = 0.9;
// The fewest tokens that are advised, because fewer would leave a GPU mostly idle.
constexpr int64_t kLeastTokens = 64;
constexpr std::string_view kLargerDevice = "a larger device";

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

uint64_t AskedFor(std::string_view problem) {
  constexpr std::string_view kBefore = "Tried to allocate ";
  const size_t at = problem.find(kBefore);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = problem.substr(at + kBefore.size());
  double number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc()) return 0;
  const std::string_view unit(end, std::min<size_t>(4, rest.data() + rest.size() - end));
  const double factor = unit == " GiB"   ? 0x1p30
                        : unit == " MiB" ? 0x1p20
                        : unit == " KiB" ? 1024
                                         : 1;
  return static_cast<uint64_t>(std::llround(number * factor));
}

std::string OutOfMemoryText(const c10::Device& device, std::string_view problem,
                            const BatchSize& batch, const tensor::DeviceMemory& before,
                            const tensor::DeviceMemory& after) {
  const bool chunked = batch.chunk_tokens > 0;
  const int64_t tokens = chunked ? std::min(batch.chunk_tokens, batch.tokens) : batch.tokens;
  const std::string what = fmt::format(
      "{} is out of memory: a batch of {} queries with {} tokens{}", device.str(), batch.queries,
      batch.tokens, chunked ? fmt::format(" in chunks of {}", batch.chunk_tokens) : "");
  if (after.total == 0) {
    return fmt::format("{} does not fit ({}); {}", what, problem,
                       BatchAdvice(batch, tokens, tokens / 2, kLargerDevice));
  }
  const uint64_t needed = std::max(after.most_used, before.used) + AskedFor(problem);
  const int64_t fitting =
      FittingTokens(tokens, static_cast<double>(before.used), static_cast<double>(needed),
                    static_cast<double>(after.total));
  return fmt::format(
      "{} needs {} or more, of which model and optimizer have {}, and the device has "
      "{}; {}",
      what, FormatByteSize(needed), FormatByteSize(before.used), FormatByteSize(after.total),
      BatchAdvice(batch, tokens, fitting, kLargerDevice));
}

void WithMemoryAdvice(const c10::Device& device, const BatchSize& batch,
                      const std::function<void()>& step) {
  const tensor::DeviceMemory before = tensor::MemoryOf(device);
  tensor::ForgetMostUsed(device);
  try {
    step();
  } catch (const c10::OutOfMemoryError& error) {
    const std::string problem = error.what_without_backtrace();
    throw UsageError(OutOfMemoryText(device,
                                     std::string_view(problem).substr(0, problem.find('\n')), batch,
                                     before, tensor::MemoryOf(device)));
  }
}

}  // namespace tandem::train
