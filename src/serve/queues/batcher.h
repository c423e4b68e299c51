// The thread that encodes, batch after batch, for all requests.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>

#include "serve/metrics.h"
#include "serve/queues/batch_queue.h"

namespace tandem::serve {

class Batcher {
 public:
  Batcher(BatchQueue& queue, Metrics& metrics);
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;
  ~Batcher();  // closes the queue, encodes what is in it, and ends

  // Measured; 0 before the first batch.
  double tokens_per_second() const { return rate_; }

 private:
  void Run();
  size_t Budget() const;
  void Encode(const Batch& batch);

  BatchQueue& queue_;
  Metrics& metrics_;
  std::atomic<double> rate_ = 0;
  std::thread thread_;
};

}  // namespace tandem::serve
