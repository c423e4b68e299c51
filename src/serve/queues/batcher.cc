#include "serve/queues/batcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <vector>

#include "base/log.h"

namespace tandem::serve {
namespace {

using Clock = std::chrono::steady_clock;

// Says how long a batch should take: a request that has just missed one waits so long for the next.
constexpr double kBatchSeconds = 0.04;
// Below the first, products are too small for the kernels' full speed, above the second larger ones
// are no faster.
constexpr size_t kFewestTokens = 256;
constexpr size_t kMostTokens = 8192;
constexpr double kRateMemory = 0.9;  // of the rate's moving average

}  // namespace

Batcher::Batcher(BatchQueue& queue, Metrics& metrics)
    : queue_(queue), metrics_(metrics), thread_([this] { Run(); }) {}

Batcher::~Batcher() {
  queue_.Close();
  thread_.join();
}

size_t Batcher::Budget() const {
  return std::clamp(static_cast<size_t>(rate_ * kBatchSeconds), kFewestTokens, kMostTokens);
}

void Batcher::Run() {
  while (true) {
    const Batch batch = queue_.Next(Budget());
    if (batch.pieces.empty()) return;
    Encode(batch);
  }
}

void Batcher::Encode(const Batch& batch) {
  const size_t width = batch.pieces.front().job->backend->info().width;
  std::vector<EncodeItem> items;
  items.reserve(batch.pieces.size());
  for (const auto& [job, text] : batch.pieces) {
    items.push_back({job->texts[text], job->kinds[text], job->rows.data() + text * width});
  }
  const Clock::time_point start = Clock::now();
  bool encoded = true;
  try {
    batch.pieces.front().job->backend->Encode(items);
  } catch (const std::exception& error) {
    encoded = false;
    Warn(fmt::format("encoding failed: {}", error.what()));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  metrics_.CountBatch(batch.pieces.size(), batch.tokens, seconds);
  // A small batch says little of the speed of full ones.
  if (batch.tokens >= kFewestTokens / 2 && seconds > 0) {
    const double now = static_cast<double>(batch.tokens) / seconds;
    rate_ = rate_ == 0 ? now : kRateMemory * rate_ + (1 - kRateMemory) * now;
  }
  for (const auto& [job, text] : batch.pieces) {
    if (!encoded) job->failed = true;
    if (job->waiting.fetch_sub(1) == 1 && !job->dropped) job->done(!job->failed);
  }
}

}  // namespace tandem::serve
